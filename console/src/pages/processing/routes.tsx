import { Route, Switch } from 'wouter'
import { lazyPart } from '../../live/lazy-part.ts'
import { namedPage } from '../../parts/page/named-page.tsx'
import { NotFound } from '../../parts/page/not-found.tsx'
import { ProcessingPage } from './page.tsx'

const TaskPage = lazyPart(async () => (await import('./task-page.tsx')).TaskPage)

export function ProcessingRoutes() {
  return (
    <Switch>
      <Route path="/processing" component={ProcessingPage} />
      <Route path="/processing/:taskId">
        {namedPage((taskId) => (
          <TaskPage key={taskId} taskId={taskId} />
        ))}
      </Route>
      <Route component={NotFound} />
    </Switch>
  )
}
