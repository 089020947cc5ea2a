import {
  AppstoreOutlined,
  CloudSyncOutlined,
  ExportOutlined,
  ScheduleOutlined,
  SettingOutlined,
  ShareAltOutlined,
  ThunderboltOutlined,
} from '@ant-design/icons'
import type { ComponentType, LazyExoticComponent } from 'react'
import { type Domain, may, type Session } from '../api/session.ts'
import { loadWords } from '../i18n/start.ts'
import { lazyPart } from '../live/lazy-part.ts'

export interface Place {
  path: string
  /** Key of its name below `common.nav`. */
  name: 'overview' | 'exports' | 'saved' | 'runs' | 'transfers' | 'processing' | 'admin'
  icon: ComponentType
  /** Whose key opens it, if its scopes let it look at the domain. */
  roles: readonly Session['role'][]
  domain: Domain
  /** Shows the admin the whole installation, at least on the page that is a list: there is no project to choose. */
  wide?: true | 'list'
  /** The letter that leads here after `g`. */
  shortcut?: string
  /** Draws `path` and whatever is below it. */
  page: LazyExoticComponent<ComponentType>
}

/** What this session may open. */
export function placesFor(who: Session | null | undefined): readonly Place[] {
  return PLACES.filter(({ roles, domain }) => who && roles.includes(who.role) && may(who, 'look', domain))
}

/** Everything that the navigation offers, in its order; the first that a session may see is its start page. */
const PLACES: readonly Place[] = [
  {
    path: '/overview',
    name: 'overview',
    domain: 'admin',
    shortcut: 'o',
    icon: AppstoreOutlined,
    roles: ['admin'],
    wide: true,
    page: lazyPart(async () => {
      const [page] = await Promise.all([
        import('./overview/page.tsx'),
        loadWords('overview'),
        // Why a delivery failed is said in the words of its own page.
        loadWords('transfers'),
      ])
      return page.OverviewPage
    }),
  },
  {
    path: '/exports',
    name: 'exports',
    domain: 'exports',
    shortcut: 'e',
    icon: ExportOutlined,
    roles: ['admin', 'project'],
    wide: 'list',
    page: lazyPart(async () => (await import('./exports/routes.tsx')).ExportRoutes),
  },
  {
    path: '/saved',
    name: 'saved',
    domain: 'exports',
    shortcut: 'v',
    icon: ScheduleOutlined,
    roles: ['admin', 'project'],
    page: lazyPart(async () => {
      const [page] = await Promise.all([import('./exports/saved/routes.tsx'), loadWords('make')])
      return page.SavedRoutes
    }),
  },
  {
    path: '/runs',
    name: 'runs',
    domain: 'runs',
    shortcut: 'r',
    icon: CloudSyncOutlined,
    roles: ['admin'],
    wide: true,
    page: lazyPart(async () => {
      const [page] = await Promise.all([import('./runs/routes.tsx'), loadWords('runs')])
      return page.RunRoutes
    }),
  },
  {
    path: '/transfers',
    name: 'transfers',
    domain: 'transfers',
    shortcut: 't',
    icon: ShareAltOutlined,
    roles: ['admin', 'project'],
    wide: true,
    page: lazyPart(async () => {
      const [page] = await Promise.all([import('./transfers/routes.tsx'), loadWords('transfers')])
      return page.TransferRoutes
    }),
  },
  {
    path: '/processing',
    name: 'processing',
    domain: 'processing',
    shortcut: 'p',
    icon: ThunderboltOutlined,
    roles: ['admin', 'project'],
    wide: true,
    page: lazyPart(async () => {
      const [page] = await Promise.all([import('./processing/routes.tsx'), loadWords('processing')])
      return page.ProcessingRoutes
    }),
  },
  {
    path: '/admin',
    name: 'admin',
    domain: 'admin',
    shortcut: 'a',
    icon: SettingOutlined,
    roles: ['admin'],
    wide: true,
    page: lazyPart(async () => (await import('./admin/routes.tsx')).AdminRoutes),
  },
]
