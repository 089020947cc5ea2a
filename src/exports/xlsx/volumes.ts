import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { clearAway } from '../../kernel/index.ts'
import { PartFile } from './part-file.ts'
import type { BookProperties } from './parts/index.ts'

export interface WrittenFile {
  path: string
  rows: number
  bytes: number
}

interface VolumeOptions {
  directory: string
  baseName: string
  styles: string
  properties?: BookProperties | undefined
}

/** The files of one book. They carry `.tmp` names until all are whole, so that nobody ever sees half a book. */
export class Volumes {
  readonly #options: VolumeOptions
  readonly #finished: { temporary: string; rows: number; bytes: number }[] = []
  #current: { part: PartFile; temporary: string } | undefined

  constructor(options: VolumeOptions) {
    this.#options = options
  }

  /** The file that is being written; opened when there is none. */
  async current(): Promise<PartFile> {
    if (!this.#current) {
      const { directory, baseName, styles, properties } = this.#options
      const temporary = join(directory, `${baseName}-${this.#finished.length + 1}.xlsx.tmp`)
      this.#current = { part: await PartFile.create(temporary, styles, properties), temporary }
    }
    return this.#current.part
  }

  /** Ends the present file; its sheet has been ended before. */
  async next(): Promise<void> {
    if (!this.#current) return
    const { part, temporary } = this.#current
    const { bytes } = await part.finish()
    this.#finished.push({ temporary, rows: part.dataRows, bytes })
    this.#current = undefined
  }

  /** Gives the files their names: `base.xlsx`, or `base-1.xlsx` and so on when there are several. */
  async publish(): Promise<WrittenFile[]> {
    await this.next()
    const { directory, baseName } = this.#options
    const single = this.#finished.length === 1
    const files: WrittenFile[] = []
    try {
      for (const [index, { temporary, rows, bytes }] of this.#finished.entries()) {
        const path = join(directory, single ? `${baseName}.xlsx` : `${baseName}-${index + 1}.xlsx`)
        await rename(temporary, path)
        files.push({ path, rows, bytes })
      }
    } catch (error) {
      await clearAway(...files.map(({ path }) => path))
      throw error
    }
    return files
  }

  async discard(): Promise<void> {
    await this.#current?.part.close()
    const names = this.#finished.map(({ temporary }) => temporary)
    if (this.#current) names.push(this.#current.temporary)
    await clearAway(...names)
  }
}
