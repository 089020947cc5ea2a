export { ofTable, type Warning, warn, warningSentence } from './warning.ts'
export { WARNINGS, type WarningCode, type WarningValue, type WarningValues } from './warning-kinds.ts'
