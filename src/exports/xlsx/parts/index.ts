export { type DefinedName, filterName, filterRange, printTitles } from './defined-names.ts'
export { fitHeights, lineHeight, lineOf, linesIn, MAX_HEIGHT, ROW_HEIGHT, textScale } from './fit-heights.ts'
export { type CellLink, linkBytes, linkTargets, MAX_LINKS } from './hyperlinks.ts'
export {
  appProperties,
  type BookProperties,
  contentTypes,
  coreProperties,
  rootRelationships,
  sheetPath,
  sheetRelationships,
  sheetRelationshipsPath,
  workbook,
  workbookRelationships,
} from './package-parts.ts'
export { firstPageColumns } from './print-setup.ts'
export { DEFAULT_FONT_SIZE, isColor, StyleBook } from './styles.ts'
export { theme } from './theme.ts'
export { type SheetEnd, worksheetHead, worksheetTail } from './worksheet.ts'
