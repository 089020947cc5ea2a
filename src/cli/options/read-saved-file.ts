import { readFileSync } from 'node:fs'
import { isNumber, isSafeNumber } from 'lossless-json'
import { type Document, parseAllDocuments, visit } from 'yaml'
import { AppError, ERRORS, ExactNumber, messageOf, utf8 } from '../../kernel/index.ts'

export interface SavedDocument {
  kind: 'template' | 'saved-export'
  name: string
  /** JSON, with its keys in the order of the file. */
  body: string
}

/** `!env NAME` is the value of an environment variable, so that no secret has to be in the file. */
const ENV_TAG = {
  tag: '!env',
  resolve: (name: string) => {
    const value = process.env[name]
    if (value === undefined) throw new Error(`the environment has no ${name}`)
    return value
  },
}

/** The documents of a file, templates first: saved exports may use them. */
export function readSavedFile(file: string): SavedDocument[] {
  let texts: unknown[]
  try {
    const documents = parseAllDocuments(utf8(readFileSync(file)), { customTags: [ENV_TAG] })
    for (const { errors } of documents) if (errors[0]) throw errors[0]
    for (const document of documents) keepDigits(document)
    texts = documents.map((document) => document.toJS({ mapAsMap: true }))
  } catch (cause) {
    throw invalid(`${file} cannot be read: ${messageOf(cause)}`, cause)
  }
  const found = texts
    .filter((text) => text !== null)
    .map((text, index) => documentOf(text, `${file}, document ${index + 1}`))
  if (found.length === 0) throw invalid(`${file} has no templates and no saved exports in it`)
  const twin = found.find(({ kind, name }, place) =>
    found.slice(0, place).some((other) => other.kind === kind && other.name === name),
  )
  if (twin) throw invalid(`${file} has two documents of ${twin.kind} ${twin.name}`)
  return [
    ...found.filter(({ kind }) => kind === 'template'),
    ...found.filter(({ kind }) => kind !== 'template'),
  ]
}

/** The server decides what becomes of a number that JavaScript would round. */
function keepDigits(document: Document): void {
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value !== 'number') return
      const { source = '' } = scalar
      const digits = /^0[xo]/.test(source) ? String(BigInt(source)) : source.replace(/^\+/, '')
      if (isNumber(digits) && !isSafeNumber(digits)) scalar.value = new ExactNumber(digits)
    },
  })
}

function documentOf(value: unknown, where: string): SavedDocument {
  if (!(value instanceof Map)) throw invalid(`${where} is no list of names and values`)
  const [kind, name] = [value.get('kind'), value.get('name')]
  if (kind !== 'template' && kind !== 'saved-export')
    throw invalid(`${where} needs kind: template or kind: saved-export`)
  if (typeof name !== 'string' || name === '') throw invalid(`${where} needs a name`)
  const body = new Map([...value].filter(([key]) => key !== 'kind' && key !== 'name'))
  return { kind, name, body: toJson(body) }
}

/** Objects would put keys that look like numbers first. */
function toJson(value: unknown): string {
  if (value instanceof Map)
    return `{${[...value].map(([key, item]) => `${JSON.stringify(String(key))}:${toJson(item)}`).join()}}`
  if (Array.isArray(value)) return `[${value.map(toJson).join()}]`
  return value instanceof ExactNumber ? value.digits : JSON.stringify(value ?? null)
}

function invalid(message: string, cause?: unknown): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, message, { cause })
}
