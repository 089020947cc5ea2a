import { AppError, ERRORS } from '../../kernel/index.ts'

export const ENCODINGS = ['utf-8', 'gb18030', 'utf-16le', 'windows-1252'] as const
export type CsvEncoding = (typeof ENCODINGS)[number]
export const QUOTES = ['text', 'minimal', 'all'] as const
export const LINE_ENDS = { crlf: '\r\n', lf: '\n' } as const

/** The field `csv` of a request. */
export interface CsvWishes {
  delimiter?: string
  encoding?: CsvEncoding
  bom?: boolean
  line_end?: keyof typeof LINE_ENDS
  decimal?: '.' | ','
  quote?: (typeof QUOTES)[number]
  formulas?: 'escape' | 'keep'
}

/** How a CSV file is written. */
export interface CsvDialect {
  delimiter: string
  encoding: CsvEncoding
  bom: boolean
  lineEnd: (typeof LINE_ENDS)[keyof typeof LINE_ENDS]
  decimal: '.' | ','
  quote: (typeof QUOTES)[number]
  formulas: 'escape' | 'keep'
}

export const DEFAULT_DIALECT: CsvDialect = {
  delimiter: ',',
  encoding: 'utf-8',
  bom: true,
  lineEnd: '\r\n',
  decimal: '.',
  quote: 'text',
  formulas: 'escape',
}

/** Encodings in which readers look for a mark. */
const MARKED: readonly CsvEncoding[] = ['utf-8', 'utf-16le']

/** `bom` is the request's own field, from before there was `csv`. */
export function readDialect({ line_end, ...wishes }: CsvWishes = {}, bom?: boolean): CsvDialect {
  const { delimiter = ',', encoding = 'utf-8', decimal = '.' } = wishes
  // A letter or digit would be found inside numbers, booleans and the mark of an exponent; a sign that begins formulas would
  // make one of what is between two fields.
  if (!/^[\t !#$%&*/:;<>?\\^_`{|}~,]$/.test(delimiter))
    throw invalid('csv.delimiter', 'must be one sign, such as , ; | or a tab')
  if (decimal === delimiter) throw invalid('csv.decimal', 'is also the delimiter; choose another of the two')
  const asked = wishes.bom ?? bom
  if (asked === true && !MARKED.includes(encoding))
    throw invalid('csv.bom', `needs the encoding utf-8 or utf-16le; ${encoding} has no byte order mark`)
  return {
    ...DEFAULT_DIALECT,
    ...wishes,
    bom: asked ?? MARKED.includes(encoding),
    lineEnd: LINE_ENDS[line_end ?? 'crlf'],
  }
}

/** The records that a fetch writes by itself are the file's. In any other dialect the file is made of typed ones. */
export function isSpooled({ delimiter, encoding, lineEnd, decimal, quote }: CsvDialect): boolean {
  const usual = DEFAULT_DIALECT
  return (
    delimiter === usual.delimiter &&
    encoding === usual.encoding &&
    lineEnd === usual.lineEnd &&
    decimal === usual.decimal &&
    quote === usual.quote
  )
}

function invalid(path: string, message: string): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, `${path} ${message}`, {
    details: { errors: [{ path, message }] },
  })
}
