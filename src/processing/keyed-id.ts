import { createHash } from 'node:crypto'

/** The same key of the same project names the same task. */
export function keyedId(projectId: string | null, key: string): string {
  const hex = createHash('sha256')
    .update(`${projectId ?? ''}\n${key}`)
    .digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`
}
