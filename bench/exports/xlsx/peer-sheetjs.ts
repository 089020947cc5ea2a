// node peer-sheetjs.ts SPOOL.csv TARGET
import * as fs from 'node:fs'
import xlsx from 'xlsx'
import { FIELDS } from './rows.ts'
import { readSpool } from './spool-reader.ts'

const [source = '', target = ''] = process.argv.slice(2)
const rows: (string | number)[][] = [FIELDS]
for (const row of readSpool(source)) rows.push(row)
const book = xlsx.utils.book_new()
xlsx.utils.book_append_sheet(book, xlsx.utils.aoa_to_sheet(rows), 'Orders')
fs.writeFileSync(target, xlsx.write(book, { type: 'buffer', bookType: 'xlsx', compression: true }))
