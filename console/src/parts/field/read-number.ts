/** What a person means by a number: digits of any width, in groups or not. Null: nothing; undefined: no such number. */
export function readNumber(text: string): number | null | undefined {
  const plain = text.normalize('NFKC').trim()
  if (plain === '') return null
  const joined = /^\d{1,3}([,'’ \u00a0\u202f]\d{3})+(\.\d+)?$/.test(plain)
    ? plain.replace(/[^\d.]/g, '')
    : plain
  return /^\d+(\.\d+)?$/.test(joined) ? Number(joined) : undefined
}
