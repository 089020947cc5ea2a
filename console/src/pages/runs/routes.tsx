import { Route, Switch } from 'wouter'
import { lazyPart } from '../../live/lazy-part.ts'
import { NotFound } from '../../parts/page/not-found.tsx'
import { handleInAddress } from './address.ts'
import { RunsPage } from './page.tsx'

const AccountPage = lazyPart(async () => (await import('./account/account-page.tsx')).AccountPage)

export function RunRoutes() {
  return (
    <Switch>
      <Route path="/runs" component={RunsPage} />
      <Route path="/runs/:handle">{() => <OneAccount />}</Route>
      <Route component={NotFound} />
    </Switch>
  )
}

function OneAccount() {
  const handle = handleInAddress()
  return <AccountPage key={handle} handle={handle} />
}
