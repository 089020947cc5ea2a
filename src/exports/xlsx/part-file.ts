import {
  appProperties,
  type BookProperties,
  type CellLink,
  contentTypes,
  coreProperties,
  type DefinedName,
  linkTargets,
  rootRelationships,
  sheetPath,
  sheetRelationships,
  sheetRelationshipsPath,
  theme,
  workbook,
  workbookRelationships,
} from './parts/index.ts'
import { combineCrc32 } from './zip/crc32-combine.ts'
import { DEFLATE_END, type DeflatedBlock, deflateInto, emptyBlock } from './zip/deflate-block.ts'
import { ZipWriter } from './zip/zip-writer.ts'

/** Room for the parts that are written last: workbook, relationships, content types and the zip directory. */
const CLOSING_BYTES = 4_096
const CLOSING_BYTES_A_SHEET = 512

/**
 * One .xlsx file as it grows. What is known beforehand comes first, then the sheets, then the parts that name them:
 * nothing has to be kept in memory until the end.
 */
export class PartFile {
  readonly #zip: ZipWriter
  readonly #sheets: { name: string; names: readonly DefinedName[] }[] = []
  #crc = 0
  /** Uncompressed bytes of the present sheet. */
  sheetBytes = 0
  /** Rows between the fixed areas, in all sheets. */
  rows = 0
  /** Those of them that come from the spool. */
  dataRows = 0

  private constructor(zip: ZipWriter) {
    this.#zip = zip
  }

  static async create(path: string, styles: string, said?: BookProperties): Promise<PartFile> {
    const part = new PartFile(await ZipWriter.create(path))
    // Programs that look at the first entries only take a zip that begins like this for what it is.
    await part.#addPart('_rels/.rels', rootRelationships())
    await part.#addPart('docProps/app.xml', appProperties())
    await part.#addPart('docProps/core.xml', coreProperties(said))
    await part.#addPart('xl/theme/theme1.xml', theme())
    await part.#addPart('xl/styles.xml', styles)
    return part
  }

  /** What the file would weigh if it ended now. */
  get bytes(): number {
    return this.#zip.bytes + CLOSING_BYTES + CLOSING_BYTES_A_SHEET * (this.#sheets.length + 1)
  }

  async beginSheet(name: string, head: DeflatedBlock): Promise<void> {
    this.#sheets.push({ name, names: [] })
    this.#crc = 0
    this.sheetBytes = 0
    await this.#zip.begin(sheetPath(this.#sheets.length), 8)
    await this.append(head)
  }

  async append(block: DeflatedBlock): Promise<void> {
    await this.#zip.append(block.chunks)
    this.#crc = combineCrc32(this.#crc, block.crc, block.plainBytes)
    this.sheetBytes += block.plainBytes
  }

  async endSheet(
    tail: string,
    { names, links }: { names: readonly DefinedName[]; links: readonly CellLink[] },
  ): Promise<void> {
    this.#sheets.at(-1)!.names = names
    await this.append(deflate(tail))
    await this.#zip.append([DEFLATE_END])
    await this.#zip.end(this.#crc, this.sheetBytes)
    if (links.length > 0) {
      const path = sheetRelationshipsPath(this.#sheets.length)
      await this.#addPart(path, sheetRelationships(linkTargets(links)))
    }
  }

  async finish(): Promise<{ bytes: number }> {
    await this.#addPart('xl/workbook.xml', workbook(this.#sheets))
    await this.#addPart('xl/_rels/workbook.xml.rels', workbookRelationships(this.#sheets.length))
    await this.#addPart('[Content_Types].xml', contentTypes(this.#sheets.length))
    await this.#zip.finish()
    return { bytes: this.#zip.bytes }
  }

  async close(): Promise<void> {
    await this.#zip.close()
  }

  async #addPart(name: string, xml: string): Promise<void> {
    const block = deflate(xml)
    await this.#zip.begin(name, 8)
    await this.#zip.append([...block.chunks, DEFLATE_END])
    await this.#zip.end(block.crc, block.plainBytes)
  }
}

export function deflate(text: string): DeflatedBlock {
  const block = emptyBlock()
  deflateInto(block, Buffer.from(text))
  return block
}
