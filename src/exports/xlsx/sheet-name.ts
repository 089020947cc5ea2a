const MAX_LENGTH = 31

/**
 * Names that Excel takes: 31 UTF-16 units at most, none of `[ ] : * ? / \`, no apostrophe at either end, not "History",
 * not empty, and no two alike when case is left aside.
 */
export function safeSheetNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name, index) => {
    const base = clean(name) || `Sheet${index + 1}`
    let candidate = cut(base, MAX_LENGTH)
    for (let copy = 2; taken.has(candidate.toLowerCase()); copy += 1) {
      const ending = ` (${copy})`
      candidate = cut(base, MAX_LENGTH - ending.length) + ending
    }
    taken.add(candidate.toLowerCase())
    return candidate
  })
}

function clean(name: string): string {
  const plain = name
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
    .replace(/[\u0000-\u001f\ufffe\uffff]/g, ' ')
    .replace(/[[\]:*?/\\]/g, '_')
    .trim()
    .replace(/^'+|'+$/g, '_')
  return plain.toLowerCase() === 'history' ? `${plain}_` : plain
}

function cut(name: string, length: number): string {
  const short = name.slice(0, length)
  const split = /[\ud800-\udbff]$/.test(short) ? short.slice(0, -1) : short
  return split.trimEnd().replace(/'$/, '_')
}
