export { type Allowed, AllowList } from './allow-list.ts'
export { copyToPlace, notKept } from './copy-to-place.ts'
export { checkRoots, Roots } from './guarded-directory.ts'
export { PartFile } from './part-file.ts'
