export { fillTypes } from './fill-types.ts'
export {
  chooseContent,
  csvHeader,
  csvRowLabels,
  parseHeader,
  type SheetContent,
  type TemplateFrom,
  templateOverruled,
} from './header/index.ts'
export { type MaskRules, maskingOf, projectMaskKey } from './masking.ts'
export { rowDepth, rowLeaves } from './nodes/row-node.ts'
export { planSheet } from './plan-sheet.ts'
export { parseTemplate, ROW_HEAD_NAMES, type Template, templateFromKeys } from './template.ts'
export { HeaderSchema, TemplateSchema } from './template-schema.ts'
export type { ThemeName } from './themes.ts'
