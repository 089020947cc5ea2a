import { AppError, ERRORS } from '../kernel/index.ts'

/** S3 takes 1,024 bytes; a part must also fit a file name with what the disk store appends. */
const MOST_BYTES = 900
const MOST_PART_BYTES = 200

/** Throws unless the key is a relative path that means the same thing on every disk and in every bucket. */
export function checkKey(key: string): string {
  const problem = keyProblem(key)
  if (problem)
    throw new AppError(ERRORS.STORAGE_KEY_INVALID, `${JSON.stringify(key.slice(0, 200))} ${problem}`, {
      retryable: false,
    })
  return key
}

function keyProblem(key: string): string | undefined {
  if (key === '') return 'is empty'
  if (!key.isWellFormed()) return 'is not well-formed Unicode'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(key)) return 'has control characters'
  if (key.includes('\\')) return 'has a backslash'
  if (Buffer.byteLength(key) > MOST_BYTES) return `is longer than ${MOST_BYTES} bytes`
  for (const part of key.split('/')) {
    if (part === '') return 'is absolute or has an empty part'
    if (part === '.' || part === '..') return 'has a part that leads elsewhere'
    if (Buffer.byteLength(part) > MOST_PART_BYTES) return `has a part longer than ${MOST_PART_BYTES} bytes`
  }
  return undefined
}
