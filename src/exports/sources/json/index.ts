export { copyLiteral, copyNumber, copyPlain, hasExponent, ValueCopier, wholeEnd } from './copy-value.ts'
export { eachElement, eachMember } from './json-members.ts'
export {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  skipString,
  skipValue,
} from './json-scan.ts'
export { MAX_KEYS, tooManyKeys } from './key-limit.ts'
export { ESCAPED, KeyTable } from './key-table.ts'
export { KeysSeen } from './keys-seen.ts'
export { type MemberLimits, requireFew } from './member-count.ts'
export { Memory, withOneMore } from './memory.ts'
export { fault, JsonFault, ShapeFault, UnknownRowHead } from './page-fault.ts'
