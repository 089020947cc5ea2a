/**
 * Who a peer is, as its certificate says it: `wharf://agent/AGENT/CONTAINER`, or `wharf://server/INSTANCE`. Everything
 * but plain letters is percent-encoded, so that a name can hold no separator of any format it passes through.
 */
export type PeerId = string

export function agentPeerId(agentId: string, containerId: string): PeerId {
  return `wharf://agent/${encoded(agentId)}/${encoded(containerId)}`
}

export function serverPeerId(instance: string): PeerId {
  return `wharf://server/${encoded(instance)}`
}

/** The peer named by a checked certificate, or undefined when it names none, or more than one. */
export function peerIdOf(subjectAltName: string | undefined): PeerId | undefined {
  return /^URI:(wharf:\/\/(?:agent|server)\/[A-Za-z0-9._%/-]+)$/.exec(subjectAltName ?? '')?.[1]
}

function encoded(text: string): string {
  const plain = [...Buffer.from(text, 'utf8')].map((byte) => {
    const letter = String.fromCharCode(byte)
    return /[A-Za-z0-9._-]/.test(letter) ? letter : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`
  })
  return plain.join('')
}
