import { createHash } from 'node:crypto'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files of half a minute and more. Started last, one of them would leave the other workers with nothing to do. */
const LONG = [
  'chaos/chaos',
  'cli/backup',
  'cli/rolling-restart',
  'cli/stopping',
  'console/everyone',
  'console/main-actions',
  'console/make',
  'console/processing',
  'console/transfers',
  'docs/commands',
  'history/statements',
  'http/rude/clients',
  'jobs/kill',
  'processing/kill',
].map((name) => `/test/${name}.test.ts`)

/** Another order with each seed, so that no file can come to rely on one before it; the longest begin. */
export class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence
    this.ctx.logger.log(`      Order of files: TEST_SEED=${seed}\n`)
    const place = ({ moduleId }: TestSpecification) => {
      const hash = createHash('sha256').update(`${seed} ${moduleId}`).digest('hex')
      return `${LONG.some((name) => moduleId.endsWith(name)) ? 'first' : 'then'} ${hash}`
    }
    return files.toSorted((one, other) => (place(one) < place(other) ? -1 : 1))
  }
}
