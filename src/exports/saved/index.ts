export { type SavedBody, SavedExports, type SavedView } from './saved-exports.ts'
export { Scheduler } from './scheduler.ts'
export { type Outcome, TemplateStore, type TemplateView } from './template-store.ts'
export { type UsedTemplate, useTemplates } from './use-templates.ts'
