import { Redirect, Route, Switch } from 'wouter'
import { namedPage } from '../../../parts/page/named-page.tsx'
import { NotFound } from '../../../parts/page/not-found.tsx'
import { SavedListPage } from './list-page.tsx'
import { SavedPage } from './saved-page.tsx'
import { TemplatePage } from './template-page.tsx'
import { TemplateListPage } from './templates-page.tsx'

/** Below `/saved`: what a project keeps under names. */
export function SavedRoutes() {
  return (
    <Switch>
      <Route path="/saved">
        <Redirect to="/saved/exports" replace />
      </Route>
      <Route path="/saved/exports" component={SavedListPage} />
      <Route path="/saved/exports/:name">
        {namedPage((name) => (
          <SavedPage key={name} name={name} />
        ))}
      </Route>
      <Route path="/saved/templates" component={TemplateListPage} />
      <Route path="/saved/templates/:name">
        {namedPage((name) => (
          <TemplatePage key={name} name={name} />
        ))}
      </Route>
      <Route component={NotFound} />
    </Switch>
  )
}
