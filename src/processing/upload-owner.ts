import { readPlain } from '../kernel/index.ts'

/** Under which name an upload's metadata has its project. */
export const OWNER = 'wharf_project'

/**
 * The project whose upload a file of the temp dir is; undefined for any other file. The store of uploads keeps what it
 * knows of an upload beside it.
 */
export async function uploadOwner(path: string): Promise<string | undefined> {
  try {
    const { metadata } = JSON.parse((await readPlain(`${path}.json`)) ?? '{}') as {
      metadata?: Record<string, unknown>
    }
    const owner = metadata?.[OWNER]
    return typeof owner === 'string' && owner !== '' ? owner : undefined
  } catch {
    return undefined
  }
}
