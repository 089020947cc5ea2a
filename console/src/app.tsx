import { QueryClientProvider } from '@tanstack/react-query'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { Router } from 'wouter'
import { session } from './api/session.ts'
import { whyUnknown } from './api/who.ts'
import { lazyPart } from './live/lazy-part.ts'
import { LiveProvider } from './live/live.tsx'
import { AS_WRITTEN } from './live/page-address.ts'
import { queryClient } from './live/query-client.ts'
import { PATCHES } from './pages/patches.ts'
import { SignInPage } from './pages/sign-in/page.tsx'
import { PageLoading } from './parts/page/page-loading.tsx'
import { ProblemNote } from './parts/page/problem-note.tsx'
import { useStore } from './store.ts'
import { ThemeProvider } from './theme/provider.tsx'

const Frame = lazyPart(async () => (await import('./frame/frame.tsx')).Frame)

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <ThemeProvider>
        <Router {...AS_WRITTEN}>
          <Content />
        </Router>
      </ThemeProvider>
    </QueryClientProvider>
  )
}

function Content() {
  const current = useStore(session)
  if (current === undefined) return <NotKnownYet />
  if (current === null) return <SignInPage />
  return (
    <LiveProvider patches={PATCHES}>
      <Suspense fallback={<PageLoading />}>
        <Frame />
      </Suspense>
    </LiveProvider>
  )
}

function NotKnownYet() {
  const { t } = useTranslation()
  const problem = useStore(whyUnknown)
  if (problem === null) return <PageLoading />
  return (
    <main className="page-unknown">
      <ProblemNote error={problem} next={t('common.goes_on')} />
    </main>
  )
}
