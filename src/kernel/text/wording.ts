/** The known word that was most likely meant, or nothing if none is near: `most` letters may differ, a third of them unless given. */
export function closest(word: string, known: readonly string[], most?: number): string | undefined {
  const plain = simplified(word)
  const same = known.find((candidate) => simplified(candidate) === plain)
  if (same !== undefined) return same
  let best: string | undefined
  let least = (most ?? Math.max(1, Math.floor(plain.length / 3))) + 1
  for (const candidate of known) {
    const distance = distanceOf(plain, simplified(candidate))
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** `v_align`, `vAlign` and `v-align` are the same to a reader. */
function simplified(word: string): string {
  return word
    .slice(0, 64)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

/** Letters that have to be put in, taken out, exchanged or swapped with the next one. */
function distanceOf(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const exchanged = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? before[j - 2]! + 1 : exchanged
      next.push(Math.min(exchanged, swapped, row[j]! + 1, next[j - 1]! + 1))
    }
    before = row
    row = next
  }
  return row[b.length]!
}

/** A number with its noun: `1 row`, `2 rows`. With a verb, both forms: `counted(n, 'row is', 'rows are')`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** A size as people read it, in the units that the console and the mails have: `1.5 MiB`. */
export function sizeInWords(bytes: number): string {
  const [unit, name] =
    bytes < 1024 ** 2 ? [1024, 'KiB'] : bytes < 1024 ** 3 ? [1024 ** 2, 'MiB'] : [1024 ** 3, 'GiB']
  const size = bytes === 0 ? 0 : Math.max(0.1, bytes / unit)
  return `${size.toFixed(1)} ${name}`
}
