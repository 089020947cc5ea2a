import { AppError, ERRORS } from '../../kernel/index.ts'

/** What Linux takes for a whole path, and for one name in it. */
const MOST_BYTES = 4096
const MOST_NAME_BYTES = 255

/** The path of a file in the repository: relative, in one form only, and leading nowhere else. */
export function repositoryPath(path: string): string {
  return checked(path.replace(/^\/+/, ''), path)
}

/** A directory and a file's name as one path, with the leading slash if the directory has one. */
export function fullPathOf(directory: string, name: string): string {
  if (name.includes('/')) throw invalid(name, 'is a name, and may hold no slash')
  const joined = `${directory}/${name}`.replace(/\/{2,}/g, '/')
  const path = directory === '' ? name : joined
  checked(path.replace(/^\//, ''), path)
  return path
}

/**
 * A directory on a target, in one form only: two ways to write it are one place. The agent decides whether it may write
 * there.
 */
export function targetDirectory(path: string): string {
  if (path === '') throw invalid(path, 'is empty')
  checkText(path)
  if (!/^(\/|[A-Za-z]:[\\/])/.test(path)) throw invalid(path, 'is no absolute path')
  if (/(^|[\\/])\.\.([\\/]|$)/.test(path)) throw invalid(path, 'has a part that leads elsewhere')
  return path.startsWith('/') ? `/${path.split('/').filter(isStep).join('/')}` : path
}

function isStep(part: string): boolean {
  return part !== '' && part !== '.'
}

function checked(relative: string, shown: string): string {
  if (relative === '') throw invalid(shown, 'is empty')
  checkText(relative)
  if (relative.includes('\\')) throw invalid(shown, 'has a backslash')
  for (const part of relative.split('/')) {
    if (part === '') throw invalid(shown, 'has an empty part')
    if (part === '.' || part === '..') throw invalid(shown, 'has a part that leads elsewhere')
    if (Buffer.byteLength(part) > MOST_NAME_BYTES)
      throw invalid(shown, `has a part longer than ${MOST_NAME_BYTES} bytes`)
  }
  return relative
}

function checkText(text: string): void {
  if (Buffer.byteLength(text) > MOST_BYTES) throw invalid(text, `is longer than ${MOST_BYTES} bytes`)
  if (!text.isWellFormed()) throw invalid(text, 'is not well-formed Unicode')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) throw invalid(text, 'has control characters')
}

function invalid(path: string, problem: string): AppError {
  return new AppError(ERRORS.REPOSITORY_PATH_INVALID, `${JSON.stringify(path.slice(0, 200))} ${problem}`)
}
