export { type SavedBody, SavedExports } from './saved-exports.ts'
export { Scheduler } from './scheduler.ts'
export { TemplateStore } from './template-store.ts'
export { useTemplates } from './use-templates.ts'
