/** XML is compressed whenever this much has come together: it fits a processor's cache, and memory stays bounded. */
export const FILL = 1 << 19
/** More than one cell can take: 32,767 units, each at most 7 bytes long once escaped, and the markup around them. */
const SLACK = 1 << 18

/**
 * Rows as they are being written, of the whole thread: one piece is encoded and compressed at a time, from its begin to its
 * end without a pause. That this and its like are constants and not fields is what makes the loops over them quick: their
 * address and size are then part of the compiled code, and not looked up and checked at each access.
 */
export const XML = new Uint8Array(FILL + SLACK)
export const XML_VIEW = new DataView(XML.buffer)
