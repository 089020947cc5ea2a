import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { requireBinary } from '../../support/find-binary.ts'
import { LIMIT_MS } from '../../support/until.ts'

const run = promisify(execFile)

/** undefined: this machine has none and cannot get one. */
export const SOFFICE = requireBinary('soffice')
if (!SOFFICE)
  console.error(
    '\n!!! SKIPPED: checks with LibreOffice. Install it (Debian: apt-get install libreoffice-calc).\n',
  )

/** Every sheet as CSV (44 comma, 34 quote, 76 UTF-8), quoted texts, all sheets. */
const CSV = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,true,false,false,false,-1'

/** A LibreOffice with a profile of its own, so that several may run at once and nobody's settings matter. */
export class Office {
  readonly #folder = mkdtempSync(join(tmpdir(), 'wharf-office-'))
  readonly #env: NodeJS.ProcessEnv

  /** With `fonts`, it sees these files and no other fonts. */
  constructor({ fonts }: { fonts?: string[] } = {}) {
    this.#env = fonts ? { ...process.env, FONTCONFIG_FILE: this.#fontConfig(fonts) } : process.env
  }

  /** Rows of each sheet, as LibreOffice offers them for editing. Texts keep their quotes, so that types can be told. */
  async values(workbook: string): Promise<Record<string, string[][]>> {
    const stem = basename(workbook, '.xlsx')
    const files = await this.#convert(workbook, CSV)
    return Object.fromEntries(
      files.map((file) => {
        const sheet = basename(file, '.csv').slice(stem.length + 1)
        return [sheet, parseCsv(readFileSync(file, 'utf8'))]
      }),
    )
  }

  /** Opened and saved by LibreOffice: what it did not understand is gone from the copy. */
  async resaved(workbook: string): Promise<string> {
    const [file] = await this.#convert(workbook, 'xlsx:Calc MS Excel 2007 XML')
    return file!
  }

  /** How many pages it prints. */
  async pages(workbook: string): Promise<number> {
    const [file] = await this.#convert(workbook, 'pdf')
    return readFileSync(file!, 'latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0
  }

  /** One PDF per workbook. */
  pdfs(workbooks: string[]): Promise<string[]> {
    return this.#convert(workbooks, 'pdf')
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #fontConfig(fonts: string[]): string {
    const folder = join(this.#folder, 'fonts')
    mkdirSync(folder)
    for (const font of fonts) symlinkSync(font, join(folder, basename(font)))
    const file = join(this.#folder, 'fonts.conf')
    const cache = `<cachedir>${join(this.#folder, 'font-cache')}</cachedir>`
    writeFileSync(file, `<?xml version="1.0"?><fontconfig><dir>${folder}</dir>${cache}</fontconfig>`)
    return file
  }

  async #convert(workbook: string | string[], filter: string): Promise<string[]> {
    const target = mkdtempSync(join(this.#folder, 'out-'))
    const profile = `-env:UserInstallation=${pathToFileURL(join(this.#folder, 'profile')).href}`
    const books = [workbook].flat()
    const args = [profile, '--headless', '--norestore', '--convert-to', filter, '--outdir', target, ...books]
    const { stdout, stderr } = await run(SOFFICE!, args, { timeout: LIMIT_MS, env: this.#env })
    const files = readdirSync(target)
    if (files.length === 0)
      throw new Error(`LibreOffice made nothing of ${books.join(', ')}: ${stdout}${stderr}`)
    return files.sort().map((name) => join(target, name))
  }
}

/** Fields keep their quotes. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, field = '', end] of text.matchAll(/("(?:[^"]|"")*"|[^,\n"]*)(,|\n)/g)) {
    rows.at(-1)!.push(field)
    if (end === '\n') rows.push([])
  }
  return rows.slice(0, -1)
}
