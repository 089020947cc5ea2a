export { DiskStore } from './disk-store.ts'
