import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import { loadSqlite } from '../../src/ledger/copy/load-sqlite.ts'
import { knownSchema } from '../../src/ledger/index.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

test('events that PostgreSQL had not numbered yet come after all others, whatever their place in the copy', async () => {
  const event = (id: number, seq: number | null) => ({
    ...{ id, seq, type: `event ${id}`, kind: 'export', data: '{}', at: id },
    ...{ project_id: null, task_id: null, job_id: null },
  })
  const rows = [event(1, null), event(2, 1), event(3, null), event(4, 2)]
  const folder = temporaryFolder()
  await loadSqlite(folder, { schema: knownSchema(), tables: ['events'], rows: () => rows }, systemClock)
  const db = new DatabaseSync(join(folder, 'ledger.db'), { readOnly: true })
  const read = db.prepare('select seq, type from events order by seq').all()
  db.close()
  expect(read.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
    '1 event 2',
    '2 event 4',
    '3 event 1',
    '4 event 3',
  ])
})
