import { Route, Switch, useSearch } from 'wouter'
import { lazyPart } from '../../live/lazy-part.ts'
import { NotFound } from '../../parts/page/not-found.tsx'
import { jobIdIn } from './address.ts'
import { TransferListPage } from './list/list-page.tsx'

const NewPage = lazyPart(async () => (await import('./make/new-page.tsx')).NewDeliveryPage)
const JobPage = lazyPart(async () => (await import('./job/job-page.tsx')).TransferJobPage)

export function TransferRoutes() {
  return (
    <Switch>
      <Route path="/transfers" component={TransferListPage} />
      <Route path="/transfers/new" component={NewPage} />
      <Route path="/transfers/job" component={OneJob} />
      <Route component={NotFound} />
    </Switch>
  )
}

function OneJob() {
  const jobId = jobIdIn(useSearch())
  if (jobId === '') return <NotFound />
  return <JobPage key={jobId} jobId={jobId} />
}
