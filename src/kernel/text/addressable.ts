/**
 * Whether a name can be one part of an address. Clients take `.` and `..` out of a path before they send it, however they are written,
 * so a thing of that name could never be asked for.
 */
export function isAddressable(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..'
}

/** Terminals and logs show names as they are, so they have no control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
export const SHOWN_NAME = /^[^\u0000-\u001f\u007f-\u009f]*$/
