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
import type { Session } from '../api/session.ts'
import { loadMakeWords } from '../i18n/start.ts'
import { lazyPart } from '../live/lazy-part.ts'

export interface Place {
  path: string
  /** Key of its name below `common.nav`. */
  name: 'overview' | 'exports' | 'saved' | 'runs' | 'transfers' | 'processing' | 'admin'
  icon: ComponentType
  /** Whose key opens it. */
  roles: readonly Session['role'][]
  /** Shows the admin the whole installation, at least on the page that is a list: there is no project to choose. */
  wide?: true | 'list'
  /** The letter that leads here after `g`. */
  shortcut?: string
  /** Draws `path` and whatever is below it. */
  page: LazyExoticComponent<ComponentType>
}

/** Everything that the navigation offers, in its order; the first that a session may see is its start page. */
export const PLACES: readonly Place[] = [
  {
    path: '/overview',
    name: 'overview',
    shortcut: 'o',
    icon: AppstoreOutlined,
    roles: ['admin'],
    wide: true,
    page: lazyPart(async () => (await import('./overview/page.tsx')).OverviewPage),
  },
  {
    path: '/exports',
    name: 'exports',
    shortcut: 'e',
    icon: ExportOutlined,
    roles: ['admin', 'project'],
    wide: 'list',
    page: lazyPart(async () => (await import('./exports/routes.tsx')).ExportRoutes),
  },
  {
    path: '/saved',
    name: 'saved',
    shortcut: 'v',
    icon: ScheduleOutlined,
    roles: ['admin', 'project'],
    page: lazyPart(async () => {
      const [page] = await Promise.all([import('./exports/saved/routes.tsx'), loadMakeWords()])
      return page.SavedRoutes
    }),
  },
  {
    path: '/runs',
    name: 'runs',
    shortcut: 'r',
    icon: CloudSyncOutlined,
    roles: ['admin'],
    wide: true,
    page: lazyPart(async () => (await import('./runs/routes.tsx')).RunRoutes),
  },
  {
    path: '/transfers',
    name: 'transfers',
    shortcut: 't',
    icon: ShareAltOutlined,
    roles: ['admin', 'project'],
    wide: true,
    page: lazyPart(async () => (await import('./transfers/routes.tsx')).TransferRoutes),
  },
  {
    path: '/processing',
    name: 'processing',
    shortcut: 'p',
    icon: ThunderboltOutlined,
    roles: ['admin', 'project'],
    wide: true,
    page: lazyPart(async () => (await import('./processing/routes.tsx')).ProcessingRoutes),
  },
  {
    path: '/admin',
    name: 'admin',
    shortcut: 'a',
    icon: SettingOutlined,
    roles: ['admin'],
    wide: true,
    page: lazyPart(async () => (await import('./admin/routes.tsx')).AdminRoutes),
  },
]
