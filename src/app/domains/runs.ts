import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { Ground } from '../../domain/index.ts'

export function runsOptions(config: Config, { sole }: Ground) {
  return {
    folder: join(config.filesDir, 'accounts'),
    connections: config.WHARF_RUN_CONNECTIONS,
    alone: sole,
  }
}
