import {
  AppstoreOutlined,
  CloudSyncOutlined,
  ExportOutlined,
  ShareAltOutlined,
  ThunderboltOutlined,
} from '@ant-design/icons'
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import type { Session } from '../api/session.ts'

export interface Place {
  path: string
  /** Key of its name below `common.nav`. */
  name: 'overview' | 'exports' | 'runs' | 'transfers' | 'processing'
  icon: ComponentType
  /** Whose key opens it. */
  roles: readonly Session['role'][]
  /** Shows the admin the whole installation: there is no project to choose. */
  wide?: true
  /** Draws `path` and whatever is below it. */
  page: LazyExoticComponent<ComponentType>
}

/** Everything that the navigation offers, in its order; the first that a session may see is its start page. */
export const PLACES: readonly Place[] = [
  {
    path: '/overview',
    name: 'overview',
    icon: AppstoreOutlined,
    roles: ['admin'],
    wide: true,
    page: lazy(async () => ({ default: (await import('./overview/page.tsx')).OverviewPage })),
  },
  {
    path: '/exports',
    name: 'exports',
    icon: ExportOutlined,
    roles: ['admin', 'project'],
    page: lazy(async () => ({ default: (await import('./exports/routes.tsx')).ExportRoutes })),
  },
  {
    path: '/runs',
    name: 'runs',
    icon: CloudSyncOutlined,
    roles: ['admin'],
    wide: true,
    page: lazy(async () => ({ default: (await import('./runs/page.tsx')).RunsPage })),
  },
  {
    path: '/transfers',
    name: 'transfers',
    icon: ShareAltOutlined,
    roles: ['admin', 'project'],
    wide: true,
    page: lazy(async () => ({ default: (await import('./transfers/routes.tsx')).TransferRoutes })),
  },
  {
    path: '/processing',
    name: 'processing',
    icon: ThunderboltOutlined,
    roles: ['admin', 'project'],
    wide: true,
    page: lazy(async () => ({ default: (await import('./processing/page.tsx')).ProcessingPage })),
  },
]
