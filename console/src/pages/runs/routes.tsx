import { Route, Switch } from 'wouter'
import { lazyPart } from '../../live/lazy-part.ts'
import { namedPage } from '../../parts/page/named-page.tsx'
import { NotFound } from '../../parts/page/not-found.tsx'
import { RunsPage } from './page.tsx'

const AccountPage = lazyPart(async () => (await import('./account/account-page.tsx')).AccountPage)

export function RunRoutes() {
  return (
    <Switch>
      <Route path="/runs" component={RunsPage} />
      <Route path="/runs/:handle">
        {namedPage((handle) => (
          <AccountPage key={handle} handle={handle} />
        ))}
      </Route>
      <Route component={NotFound} />
    </Switch>
  )
}
