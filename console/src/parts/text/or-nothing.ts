interface Option {
  value: string
  label: string
  disabled?: boolean
}

/** What a list offers, or the words for an empty one as its only entry: those who only hear the list hear them too. */
export function orNothing(options: Option[], words: string): Option[] {
  return options.length > 0 ? options : [{ value: '', label: words, disabled: true }]
}
