import { createHash } from 'node:crypto'

/** Leaves space within the 255 bytes of a name for a suffix that keeps two files apart and for the ending of a part file. */
const MAX_BYTES = 180
const MAX_EXTENSION_BYTES = 20

// Windows keeps these for devices, with every extension. Its superscript digits count as digits.
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f<>:"/\\|?*\ufffd]/g
/** Characters without a shape of their own can hide an extension: `photo\u202egpj.exe` shows as `photoexe.jpg`. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/**
 * The name under which a file of this name can be kept on any file system: one component, no way out of its folder, no
 * device, not hidden, never taken for a download in flight, and not too long.
 */
export function safeName(name: string): string {
  const plain = name
    .toWellFormed()
    .normalize('NFC')
    .replace(INVISIBLE, '')
    .replace(FORBIDDEN, '_')
    .replace(/^[\s.]+/, '')
    .replace(/[\s.]+$/, '')
  let safe = shorten(plain === '' ? '_' : plain)
  if (DEVICE.test(safe)) safe = `_${safe}`
  return /\.part$/i.test(safe) ? `${safe}_` : safe
}

/** Another name for a file whose own is taken. Made from the item's id, so that it is found again. */
export function distinctName(name: string, id: string, salt = 0): string {
  const mark = createHash('sha256').update(`${salt} ${id}`).digest('hex').slice(0, 10)
  const { stem, extension } = split(name)
  return `${stem}-${mark}${extension}`
}

/** What two names have in common that a file system takes for the same one. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}

function split(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 ? name.slice(dot) : ''
  return Buffer.byteLength(extension) <= MAX_EXTENSION_BYTES && extension.length > 1
    ? { stem: name.slice(0, dot), extension }
    : { stem: name, extension: '' }
}

/** Cuts the stem and keeps the extension: a long name stays the kind of file that it was. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_BYTES) return name
  const { stem, extension } = split(name)
  let room = MAX_BYTES - Buffer.byteLength(extension)
  let cut = ''
  for (const character of stem) {
    room -= Buffer.byteLength(character)
    if (room < 0) break
    cut += character
  }
  return cut.replace(/[\s.]+$/, '') + extension
}
