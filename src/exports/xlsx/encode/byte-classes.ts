/** What a byte means inside a quoted text. Anything but PLAIN stops the fast copy. */
export const PLAIN = 0
export const QUOTE_CLASS = 1
export const AMPERSAND = 2
export const LESS = 3
export const GREATER = 4
/** Might begin something that looks like `_x0041_`. */
export const UNDERSCORE = 5
/** Needs the slow way: control characters, and where asked for the lead byte of U+FFFE and U+FFFF. */
const SLOW = 6
/** A line feed or a carriage return. */
export const LINE_END = 7

export const QUOTE = 0x22
export const COMMA = 0x2c
export const NEWLINE = 0x0a
export const RETURN = 0x0d

function makeClasses(nonCharacters: boolean): Uint8Array {
  const classes = new Uint8Array(256)
  classes.fill(SLOW, 0, 0x20)
  classes[0x09] = PLAIN
  classes[NEWLINE] = LINE_END
  classes[RETURN] = LINE_END
  classes[QUOTE] = QUOTE_CLASS
  classes[0x26] = AMPERSAND
  classes[0x3c] = LESS
  classes[0x3e] = GREATER
  classes[0x5f] = UNDERSCORE
  if (nonCharacters) classes[0xef] = SLOW
  return classes
}

export const CLASSES = makeClasses(false)
/** For slices that hold U+FFFE or U+FFFF somewhere, which is next to never. */
export const CLASSES_WITH_NON_CHARACTERS = makeClasses(true)
