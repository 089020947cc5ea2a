export type { S3Options } from './s3-store.ts'
