export {
  type KeptWarning,
  ofTable,
  type Warning,
  WarningDetail,
  warn,
  warningDetails,
  warningWords,
} from './warning.ts'
export { WARNINGS, type WarningCode, type WarningValues } from './warning-kinds.ts'
