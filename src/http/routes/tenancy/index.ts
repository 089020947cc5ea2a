export { auditRoutes } from './audit.ts'
export { projectRoutes } from './projects.ts'
export { sessionRoutes } from './session.ts'
export { signInRoutes } from './sign-in.ts'
