// node peer-xlsx.ts DATABASE_URL QUERY TARGET: what a script with pg-query-stream and exceljs does.
import exceljs from 'exceljs'
import pg from 'pg'
import QueryStream from 'pg-query-stream'

const [url, query = '', filename = ''] = process.argv.slice(2)
const client = new pg.Client({ connectionString: url })
await client.connect()
const workbook = new exceljs.stream.xlsx.WorkbookWriter({
  filename,
  useStyles: false,
  useSharedStrings: false,
})
const sheet = workbook.addWorksheet('rows')
const rows = client.query(new QueryStream(query, [], { batchSize: 1_000, highWaterMark: 1_000 }))
let headed = false
for await (const row of rows as AsyncIterable<Record<string, unknown>>) {
  if (!headed) sheet.addRow(Object.keys(row)).commit()
  headed = true
  sheet.addRow(Object.values(row)).commit()
}
sheet.commit()
await workbook.commit()
await client.end()
