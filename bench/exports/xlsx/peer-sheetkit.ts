// node peer-sheetkit.ts SPOOL.csv TARGET
import { createRequire } from 'node:module'
import { FIELDS } from './rows.ts'
import { readSpool } from './spool-reader.ts'

interface StreamWriter {
  writeRows(first: number, rows: (string | number)[][]): void
}
interface Binding {
  Workbook: new () => {
    newStreamWriter(sheet: string): StreamWriter
    applyStreamWriter(writer: StreamWriter): number
    saveSync(path: string): void
  }
}

const BATCH = 1000
const [source = '', target = ''] = process.argv.slice(2)
const { Workbook }: Binding = createRequire(import.meta.url)('@sheetkit/node-linux-x64-gnu')
const book = new Workbook()
const sheet = book.newStreamWriter('Orders')
let rows: (string | number)[][] = [FIELDS]
let next = 1
for (const row of readSpool(source)) {
  if (rows.push(row) === BATCH) flush()
}
flush()
book.applyStreamWriter(sheet)
book.saveSync(target)

function flush(): void {
  if (rows.length > 0) sheet.writeRows(next, rows)
  next += rows.length
  rows = []
}
