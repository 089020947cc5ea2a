/** The address of `rel="next"` in a Link header (RFC 8288), as it is written there. */
export function nextLink(header: string | undefined): string | undefined {
  for (const [, address, parameters = ''] of (header ?? '').matchAll(
    /<([^<>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]*))?)*)/g,
  )) {
    const [, quoted, bare] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))/i.exec(parameters) ?? []
    const relations = (quoted ?? bare ?? '').toLowerCase().split(/\s+/)
    if (relations.includes('next')) return address
  }
  return undefined
}
