import { MAX_MARKS, XML } from './row-buffer.ts'

/** A token of this many literals has no match after them. */
export const LITERALS_ALONE = 511
const MATCHES_A_MARK = 3

/**
 * What a block consists of: stretches of literals, each followed by a match. One word a token, from the top: number of
 * literals (9 bits), length - 3 (8 bits), distance - 1 (15 bits). The literals themselves stay where they are.
 */
export const TOKENS = new Int32Array(MAX_MARKS * MATCHES_A_MARK + Math.ceil(XML.length / LITERALS_ALONE) + 1)
