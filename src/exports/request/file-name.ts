import { randomInt } from 'node:crypto'

export interface FileNameOptions {
  /** Without the dot. */
  extension: string
  /** Milliseconds since 1970; the made-up name shows them in UTC. */
  now: number
  /** A whole number from 0 up to, but not including, the given one. */
  random?: (below: number) => number
}

/** Most file systems allow 255 bytes; the rest is left for what storage or a browser adds to a name. */
const MAX_BYTES = 200
/** More than that is never read: a request's name may be as long as its body. */
const MAX_CHARACTERS = 1_000
const RANDOM_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** Extensions that say what a file holds: they are put right, not added to. Any other dot belongs to the name. */
const KNOWN_EXTENSION =
  /\.(?:csv|jsonl|ndjson)\.(?:gz|zst)$|\.(?:csv|tsv|txt|xls|xlsx|xlsm|jsonl|ndjson|parquet|zip|gz|zst)$/i
/** Devices that Windows finds in every folder, whatever follows their dot. */
const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(?:\.|$)/i

/** The file's name as users see it: the one asked for, made safe for every system, or one made up of date and chance. */
export function fileNameFor(requested: string | null | undefined, options: FileNameOptions): string {
  const extension = `.${options.extension}`
  const stem = safeStem(requested ?? '', MAX_BYTES - Buffer.byteLength(extension))
  return `${stem === '' ? madeUpStem(options) : stem}${extension}`
}

function safeStem(requested: string, maxBytes: number): string {
  const name = joinParts(requested.slice(0, MAX_CHARACTERS).toWellFormed().normalize('NFC'))
    // Control characters, line separators, and marks that turn the reading direction and so hide an extension.
    .replace(/[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffd]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
  const stem = trimmed(name.replace(/[\s.]+$/, '').replace(KNOWN_EXTENSION, ''))
  const safe = RESERVED.test(stem) ? `_${stem}` : stem
  return trimmed(cut(safe, maxBytes))
}

/** "a/b" is a title with a slash more often than a path: its parts stay, the steps through folders go. */
function joinParts(name: string): string {
  const parts = name.split(/[/\\]/).filter((part) => !/^\s*\.{0,2}\s*$/.test(part))
  return parts.join('_')
}

/** No blanks at the ends, no dot at the start (hidden on Unix) or at the end (dropped by Windows). */
function trimmed(name: string): string {
  return name.replace(/^[\s.]+/, '').replace(/[\s.]+$/, '')
}

/** Cuts between what readers see as characters, so that no accent or emoji is torn apart. */
function cut(name: string, maxBytes: number): string {
  if (Buffer.byteLength(name) <= maxBytes) return name
  let kept = ''
  let bytes = 0
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(name)) {
    bytes += Buffer.byteLength(segment)
    if (bytes > maxBytes) break
    kept += segment
  }
  return kept
}

/** `20260408-153012-k3j9x2` */
function madeUpStem({ now, random = randomInt }: FileNameOptions): string {
  const [date, time] = new Date(now).toISOString().replace(/[-:]/g, '').split(/[T.]/)
  const chance = Array.from({ length: 6 }, () => RANDOM_CHARACTERS[random(RANDOM_CHARACTERS.length)])
  return `${date}-${time}-${chance.join('')}`
}

/** False: nobody chose it, so it tells people nothing. */
export function isGivenName(stem: string): boolean {
  return !/^\d{8}-\d{6}-[a-z\d]{6}$/.test(stem)
}
