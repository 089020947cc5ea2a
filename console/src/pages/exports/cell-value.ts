/** How a value will look in its cell; what does not fit its type stays text, as in the file. */
export function drawValue(
  value: unknown,
  type: string,
  language: string,
): { text: string; align: 'left' | 'right' | 'center' } {
  if (value === null || value === undefined) return { text: '', align: 'left' }
  if (typeof value === 'boolean') return { text: value ? 'TRUE' : 'FALSE', align: 'center' }
  const number = typeof value === 'number' ? value : Number.NaN
  if (Number.isFinite(number)) return { text: drawNumber(number, type, language), align: 'right' }
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  if (type === 'datetime' && /^\d{4}-\d\d-\d\dT/.test(text))
    return { text: text.slice(0, 19).replace('T', ' '), align: 'right' }
  return { text, align: type === 'date' ? 'right' : 'left' }
}

function drawNumber(value: number, type: string, language: string): string {
  if (type === 'money') {
    return new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(
      value,
    )
  }
  if (type === 'percent') {
    return new Intl.NumberFormat(language, { style: 'percent', minimumFractionDigits: 2 }).format(value)
  }
  return String(value)
}
