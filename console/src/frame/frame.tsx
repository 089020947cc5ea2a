import { SearchOutlined } from '@ant-design/icons'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, Redirect, Route, Switch, useLocation } from 'wouter'
import { session } from '../api/session.ts'
import { lazyPart } from '../live/lazy-part.ts'
import { type Place, placesFor } from '../pages/registry.ts'
import { Toasts } from '../parts/dialog/toasts.tsx'
import { useStore } from '../store.ts'
import './frame.css'
import { Mark } from '../parts/page/mark.tsx'
import { MayNot } from '../parts/page/may-not.tsx'
import { NotFound } from '../parts/page/not-found.tsx'
import { PageLoading } from '../parts/page/page-loading.tsx'
import { ExportNotices } from './export-notices.tsx'
import { useKeptFocus } from './keep-focus.ts'
import { LinkBanner } from './link-banner.tsx'
import { PageBoundary } from './page-boundary.tsx'
import { ProjectChoice } from './project-choice.tsx'
import { SessionMenu } from './session-menu.tsx'
import { CTRL, type Overlay, useShortcuts } from './shortcuts.ts'

const Palette = lazyPart(async () => (await import('./palette/palette.tsx')).Palette)
const ShortcutSheet = lazyPart(async () => (await import('./shortcut-sheet.tsx')).ShortcutSheet)

/** What stands around every page: where one is, where one may go, whether it is live, and who is signed in. */
export function Frame() {
  const { t } = useTranslation()
  const who = useStore(session)
  const role = who?.role
  const places = placesFor(who)
  const [location] = useLocation()
  const [overlay, setOverlay] = useState<Overlay | null>(null)
  const close = () => setOverlay(null)
  useShortcuts(setOverlay)
  useKeptFocus()
  const here = places.find(({ path }) => location.startsWith(path))
  return (
    <div className="frame">
      <a className="frame-skip" href="#content">
        {t('common.skip')}
      </a>
      <div className="frame-side">
        <nav aria-label={t('common.navigation')}>
          <Link href="/" className="frame-brand" aria-label={t('common.home')}>
            <Mark />
            <span>Wharf</span>
          </Link>
          <ul>
            {places.map((place) => (
              <NavItem key={place.path} place={place} current={place === here} />
            ))}
          </ul>
        </nav>
      </div>
      <header className="frame-top">
        {!(role === 'admin' && here && isWide(here, location)) && <ProjectChoice />}
        <button type="button" className="frame-search" onClick={() => setOverlay('palette')}>
          <SearchOutlined />
          <span>{t('common.palette.open')}</span>
          <kbd>{CTRL} K</kbd>
        </button>
        <SessionMenu />
      </header>
      <main id="content" tabIndex={-1}>
        <LinkBanner />
        <PageBoundary key={location.split('/')[1] ?? ''}>
          <Suspense fallback={<PageLoading />}>
            <Switch>
              {places.map(({ path, page: Page }) => (
                <Route key={path} path={`${path}/*?`}>
                  <Page />
                </Route>
              ))}
              <Route path="/">{places[0] ? <Redirect to={places[0].path} replace /> : <MayNot />}</Route>
              <Route>
                <NotFound />
              </Route>
            </Switch>
          </Suspense>
        </PageBoundary>
      </main>
      <ExportNotices />
      <Toasts />
      <Suspense>
        {overlay === 'palette' && <Palette onClose={close} />}
        {overlay === 'sheet' && <ShortcutSheet onClose={close} />}
      </Suspense>
    </div>
  )
}

function isWide({ wide, path }: Place, location: string): boolean {
  return wide === true || (wide === 'list' && location === path)
}

function NavItem({ place: { path, name, icon: Icon }, current }: { place: Place; current: boolean }) {
  const { t } = useTranslation()
  return (
    <li>
      <Link href={path} className="frame-link" aria-current={current ? 'page' : undefined}>
        <Icon />
        <span>{t(`common.nav.${name}`)}</span>
      </Link>
    </li>
  )
}
