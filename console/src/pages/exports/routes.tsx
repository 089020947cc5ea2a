import { Route, Switch } from 'wouter'
import { lazyPart } from '../../live/lazy-part.ts'
import { NotFound } from '../../parts/not-found.tsx'
import { ExportListPage } from './list-page.tsx'

const NewPage = lazyPart(async () => (await import('./new-page.tsx')).NewExportPage)
const DetailPage = lazyPart(async () => (await import('./detail-page.tsx')).ExportDetailPage)

export function ExportRoutes() {
  return (
    <Switch>
      <Route path="/exports" component={ExportListPage} />
      <Route path="/exports/new" component={NewPage} />
      <Route path="/exports/:taskId">{({ taskId }) => <DetailPage key={taskId} taskId={taskId} />}</Route>
      <Route component={NotFound} />
    </Switch>
  )
}
