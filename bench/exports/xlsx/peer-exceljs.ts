// node peer-exceljs.ts SPOOL.csv TARGET
import exceljs from 'exceljs'
import { FIELDS } from './rows.ts'
import { readSpool } from './spool-reader.ts'

const [source = '', filename = ''] = process.argv.slice(2)
const book = new exceljs.stream.xlsx.WorkbookWriter({ filename, useStyles: false, useSharedStrings: false })
const sheet = book.addWorksheet('Orders')
sheet.addRow(FIELDS).commit()
for await (const row of readSpool(source)) sheet.addRow(row).commit()
sheet.commit()
await book.commit()
