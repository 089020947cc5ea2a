export { type Outcome, TemplateStore, type TemplateView } from './template-store.ts'
export { type UsedTemplate, useTemplates } from './use-templates.ts'
