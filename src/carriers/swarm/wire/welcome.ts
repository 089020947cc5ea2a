import { type KeyObject, X509Certificate } from 'node:crypto'
import { keyIdOf } from './agent-key.ts'
import type { ToAgent } from './control-message.ts'
import { type PeerId, peerIdOf } from './peer-id.ts'
import { isSigned } from './signed.ts'

type Welcome = Extract<ToAgent, { type: 'welcome' }>

export function welcomeText(
  { certificate, now, revoked }: Pick<Welcome, 'certificate' | 'now' | 'revoked'>,
  nonce: string,
): string {
  return JSON.stringify([nonce, certificate, now, revoked])
}

/**
 * Throws unless the server that this agent was enrolled with says so, in answer to this very hello, and the certificate
 * is by its authority, for this agent and this key.
 */
export function checkWelcome(
  welcome: Welcome,
  nonce: string,
  own: { id: PeerId; publicKey: KeyObject; authority: string; verifyKey: KeyObject },
): void {
  if (!isSigned(own.verifyKey, 'welcome', welcomeText(welcome, nonce), welcome.signature))
    throw new Error('the server is not the one that this agent was enrolled with')
  const certificate = new X509Certificate(welcome.certificate)
  const authority = new X509Certificate(own.authority)
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey))
    throw new Error("the certificate is not by the server's authority")
  if (peerIdOf(certificate.subjectAltName) !== own.id || certificate.ca)
    throw new Error('the certificate is for another agent')
  if (keyIdOf(certificate.publicKey) !== keyIdOf(own.publicKey))
    throw new Error('the certificate is for another key')
  if (
    !(certificate.validFromDate.getTime() <= welcome.now && welcome.now < certificate.validToDate.getTime())
  )
    throw new Error('the certificate is not valid now')
}
