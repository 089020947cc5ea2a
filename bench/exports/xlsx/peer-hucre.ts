// node peer-hucre.ts SPOOL.csv TARGET
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { writeXlsxStream } from 'hucre/xlsx'
import { FIELDS } from './rows.ts'
import { readSpool } from './spool-reader.ts'

const [source = '', target = ''] = process.argv.slice(2)
const columns = FIELDS.map((header) => ({ header }))
await pipeline(writeXlsxStream(readSpool(source), { name: 'Orders', columns }), createWriteStream(target))
