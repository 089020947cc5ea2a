import { Link, Redirect, Route, Switch, useLocation } from 'wouter'
import { namedPage } from '../../parts/page/named-page.tsx'
import { NotFound } from '../../parts/page/not-found.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import './admin.css'
import { AgentsPage } from './agents-page.tsx'
import { AuditPage } from './audit-page.tsx'
import { ConnectionsPage } from './connections-page.tsx'
import { ProjectPage } from './projects/project-page.tsx'
import { ProjectsPage } from './projects/projects-page.tsx'
import { SessionsPage } from './sessions-page.tsx'
import { SettingsPage } from './settings-page.tsx'
import { WebhooksPage } from './webhooks-page.tsx'
import { useWords } from './words.ts'

const PARTS = [
  { name: 'projects', page: ProjectsPage },
  { name: 'people', page: SessionsPage },
  { name: 'connections', page: ConnectionsPage },
  { name: 'agents', page: AgentsPage },
  { name: 'webhooks', page: WebhooksPage },
  { name: 'audit', page: AuditPage },
  { name: 'settings', page: SettingsPage },
] as const

/** What only the one who runs the installation does. */
export function AdminRoutes() {
  const t = useWords()
  const [location] = useLocation()
  return (
    <>
      <PageHead title={t('title')} />
      <nav className="admin-parts" aria-label={t('title')}>
        {PARTS.map(({ name }) => (
          <Link
            key={name}
            href={`/admin/${name}`}
            aria-current={location.startsWith(`/admin/${name}`) ? 'page' : undefined}
          >
            {t(`part.${name}`)}
          </Link>
        ))}
      </nav>
      <Switch>
        <Route path="/admin">
          <Redirect to="/admin/projects" replace />
        </Route>
        <Route path="/admin/projects/:id">
          {namedPage((id) => (
            <ProjectPage key={id} id={id} />
          ))}
        </Route>
        {PARTS.map(({ name, page }) => (
          <Route key={name} path={`/admin/${name}`} component={page} />
        ))}
        <Route component={NotFound} />
      </Switch>
    </>
  )
}
