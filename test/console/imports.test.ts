import { expect, test } from 'vitest'
import { consoleFaults } from '../../scripts/console-imports.ts'

const faultsOf = (files: Record<string, string>) => consoleFaults(new Map(Object.entries(files)))

test('folders that import one another in a cycle are found, over any number of folders', () => {
  const faults = faultsOf({
    'live/live.tsx': "import { patch } from '../pages/runs/patch.ts'",
    'pages/runs/patch.ts': "import type { Row } from '../../parts/row.tsx'",
    'parts/row.tsx': "const live = await import('../live/live.tsx')",
  })
  expect(faults).toEqual([
    'folders import one another in a cycle: live/live.tsx → pages/runs/patch.ts, pages/runs/patch.ts → parts/row.tsx, parts/row.tsx → live/live.tsx',
  ])
})

test('a page does not import another page; the list of pages imports all', () => {
  expect(
    faultsOf({
      'pages/registry.ts': "lazy(() => import('./runs/page.tsx'))\nimport './exports/page.tsx'",
      'pages/exports/page.tsx': "export { Table } from '../runs/table.tsx'",
    }),
  ).toEqual(['a page does not import another page: pages/exports/page.tsx → pages/runs/table.tsx'])
})

test('only api/ knows the wire', () => {
  const wire = "import type { Task } from '../../../src/http/wire.ts'"
  expect(faultsOf({ 'api/tasks.ts': `${wire}\nimport { ask } from './client.ts'` })).toEqual([])
  expect(faultsOf({ 'api/tasks.ts': "import { x } from '../../../src/jobs/index.ts'" })).toHaveLength(1)
  expect(faultsOf({ 'live/tasks.ts': `${wire}\nimport { ask } from '../api/client.ts'` })).toHaveLength(2)
})
