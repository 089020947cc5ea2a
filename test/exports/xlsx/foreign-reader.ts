import { spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { spawnBound } from '../../support/bound-process.ts'
import { requirePython } from '../../support/find-binary.ts'

export interface SeenCell {
  /** openpyxl's letter: n number, s text, b boolean, d date, f formula. */
  type: string
  value: string | number | boolean | { date: string } | null
  /** What the file says that a formula comes to. */
  cached?: string | number | boolean | { date: string } | null
  look: {
    format: string
    bold: boolean
    italic: boolean
    underline: boolean
    size: number
    color: string | null
    bgColor: string | null
    align: string | null
    vAlign: string | null
    wrap: boolean
  }
}

export interface SeenSheet {
  name: string
  cells: Record<string, SeenCell>
  merges: string[]
  widths: Record<string, number>
  heights: Record<string, number>
  filter: string | null
  /** Rows and columns that each printed page repeats. */
  titles: [rows: string | null, columns: string | null]
  page: [orientation: string, pagesAcross: number, header: string, footer: string]
  links: Record<string, [target: string, place: string | null]>
  freeze: string | null
  rows: number
}

const SCRIPT = fileURLToPath(new URL('./dump-workbooks.py', import.meta.url))
let python: string | undefined
let reader: ReturnType<typeof startReader> | undefined

/** Opens workbooks with openpyxl, all in one process: starting Python costs more than reading a file. */
export async function readWorkbooks(paths: readonly string[]): Promise<SeenSheet[][]> {
  reader ??= startReader()
  const line = await reader(JSON.stringify(paths))
  const { seen, error } = JSON.parse(line) as { seen: SeenSheet[][]; error?: string }
  if (error !== undefined) throw new Error(`openpyxl refused a workbook: ${error}`)
  return seen
}

/** A Python that answers each line with one; it ends with this process. */
function startReader(): (line: string) => Promise<string> {
  python ??= findPython()
  const child = spawnBound(python, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]()
  return async (line) => {
    child.stdin?.write(`${line}\n`)
    const { value, done } = await answers.next()
    if (done) throw new Error('Python has ended')
    return value
  }
}

const ARCHIVE = `
import hashlib, json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    digest = lambda data: hashlib.sha256(data).hexdigest()
    show = digest if sys.argv[2] == 'sums' else lambda data: data.decode()
    print(json.dumps({name: show(archive.read(name)) for name in archive.namelist()}))
`

/** Names in a zip archive with the SHA-256 of what stands under them, as Python's zipfile sees it. */
export function readArchive(path: string): Record<string, string> {
  return runArchive(path, 'sums')
}

const UNPACK = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    archive.extractall(sys.argv[2])
`

/** Puts what an archive holds into a folder. */
export function unpack(path: string, folder: string): void {
  python ??= findPython()
  const { status, stderr } = spawnSync(python, ['-c', UNPACK, path, folder], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`zipfile refused an archive: ${stderr}`)
}

/** The parts of a workbook as text, in the order in which they stand in the file. */
export function readParts(path: string): Record<string, string> {
  return runArchive(path, 'texts')
}

function runArchive(path: string, what: 'sums' | 'texts'): Record<string, string> {
  python ??= findPython()
  const { status, stdout, stderr } = spawnSync(python, ['-c', ARCHIVE, path, what], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`zipfile refused an archive: ${stderr}`)
  return JSON.parse(stdout)
}

function findPython(): string {
  const found = requirePython('openpyxl')
  if (!found) throw new Error('these tests need Python 3 with openpyxl (Debian: python3-openpyxl)')
  return found
}
