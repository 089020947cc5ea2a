export { type PreparedSheet, prepareSheet, type SheetInput } from './prepare-sheet.ts'
