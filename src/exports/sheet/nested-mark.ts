/** A `j` before the quote of an object or array in a marked record, see `SPOOL.md`. */
export const NESTED = 0x6a
