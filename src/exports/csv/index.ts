export { csvColumns } from './csv-layout.ts'
