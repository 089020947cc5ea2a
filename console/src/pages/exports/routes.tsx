import { Route, Switch } from 'wouter'
import { loadWords } from '../../i18n/start.ts'
import { lazyPart } from '../../live/lazy-part.ts'
import { namedPage } from '../../parts/page/named-page.tsx'
import { NotFound } from '../../parts/page/not-found.tsx'
import { ExportListPage } from './list/list-page.tsx'

const NewPage = lazyPart(async () => {
  const [page] = await Promise.all([import('./make/new-page.tsx'), loadWords('make')])
  return page.NewExportPage
})
const DetailPage = lazyPart(async () => {
  const [page] = await Promise.all([import('./detail/detail-page.tsx'), loadWords('make')])
  return page.ExportDetailPage
})

export function ExportRoutes() {
  return (
    <Switch>
      <Route path="/exports" component={ExportListPage} />
      <Route path="/exports/new" component={NewPage} />
      <Route path="/exports/:taskId">
        {namedPage((taskId) => (
          <DetailPage key={taskId} taskId={taskId} />
        ))}
      </Route>
      <Route component={NotFound} />
    </Switch>
  )
}
