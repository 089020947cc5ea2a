import { constants } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { FileStore } from '@tus/file-store'
import { ERRORS as TUS_ERRORS } from '@tus/server'
import { openPlain } from '../kernel/index.ts'

/** Uploads in the temp dir, which gateways write to as well: what is no plain file there is no upload. */
export class UploadFiles extends FileStore {
  override async getUpload(id: string) {
    for (const name of [id, `${id}.json`]) {
      const found = await lstat(join(this.directory, name)).catch(() => undefined)
      if (found && !found.isFile()) throw TUS_ERRORS.FILE_NOT_FOUND
    }
    return super.getUpload(id)
  }

  override async write(readable: Readable, id: string, offset: number): Promise<number> {
    const file = await openPlain(join(this.directory, id), constants.O_WRONLY)
    if (!file) throw TUS_ERRORS.FILE_NOT_FOUND
    try {
      const target = file.createWriteStream({ start: offset })
      await pipeline(readable, target)
      return offset + target.bytesWritten
    } catch {
      throw TUS_ERRORS.FILE_WRITE_ERROR
    }
  }
}
