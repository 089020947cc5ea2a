export { Runs } from './runs.ts'
