// node peer-exceljs.ts SPOOL.csv TARGET
import { setImmediate as turn } from 'node:timers/promises'
import exceljs from 'exceljs'
import { FIELDS } from './rows.ts'
import { readSpool } from './spool-reader.ts'

const [source = '', filename = ''] = process.argv.slice(2)
const book = new exceljs.stream.xlsx.WorkbookWriter({ filename, useStyles: false, useSharedStrings: false })
const sheet = book.addWorksheet('Orders')
sheet.addRow(FIELDS).commit()
let rows = 0
for (const row of readSpool(source)) {
  sheet.addRow(row).commit()
  rows += 1
  // Its output is only written when the event loop gets a turn; without one it gathers the whole sheet in memory.
  if (rows % 1000 === 0) await turn()
}
sheet.commit()
await book.commit()
