import { createHash } from 'node:crypto'

/** What a window collects requests for. */
export interface DeliveredFile {
  bizId: number
  appId: number
  /** The directory joined with the file's name. It may hold colons, spaces and any script. */
  fullPath: string
}

/** The kind of job that a window's end is. */
export const TRANSFER_KIND = 'transfer'

const TASK = 'AsyncDownloadTask:'
const JOB = 'AsyncDownloadJob:'
const TARGETS = 'AsyncDownloadJob:Targets:'
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** The numbers before and after hold no colon, so what is between them is the path. */
const JOB_FORM = /^AsyncDownloadJob:(?:Targets:)?(\d+):(\d+):(.*):(\d+)(?:#([0-9a-f]{8}))?$/s
const TASK_FORM = /^AsyncDownloadTask:(\d+):(\d+):(.*):([^:]+)$/s

export function taskPrefix({ bizId, appId, fullPath }: DeliveredFile): string {
  return `${TASK}${bizId}:${appId}:${fullPath}:`
}

/** `signature` only for the second and further files of this path in one window. */
export function jobKey(
  { bizId, appId, fullPath }: DeliveredFile,
  bucket: number,
  signature?: string,
): string {
  const key = `${JOB}${bizId}:${appId}:${fullPath}:${bucket}`
  return signature === undefined ? key : `${key}#${signature.slice(0, 8)}`
}

export function targetsKeyOf(job: string): string {
  return TARGETS + job.slice(JOB.length)
}

export interface ParsedJobKey extends DeliveredFile {
  bucket: number
  /** The first eight digits of the signature, where the id has them. */
  signature: string | undefined
}

/** Reads a job's id or the key of its targets; undefined for anything else. */
export function parseJobKey(key: string): ParsedJobKey | undefined {
  const match = JOB_FORM.exec(key)
  if (!match) return undefined
  const [, biz, app, fullPath = '', bucket, signature] = match
  return { bizId: Number(biz), appId: Number(app), fullPath, bucket: Number(bucket), signature }
}

export interface ParsedTaskKey extends DeliveredFile {
  uuid: string
}

export function parseTaskKey(key: string): ParsedTaskKey | undefined {
  const match = TASK_FORM.exec(key)
  if (!match) return undefined
  const [, biz, app, fullPath = '', uuid = ''] = match
  return UUID.test(uuid) ? { bizId: Number(biz), appId: Number(app), fullPath, uuid } : undefined
}

/** Under this the ledger knows a text that may be too long for its indexes. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
