import { execFileSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { agentPeerId } from '../../../src/carriers/index.ts'
import { SwarmAuthority } from '../../../src/carriers/swarm/identity/authority.ts'
import { buildCertificate } from '../../../src/carriers/swarm/identity/certificate.ts'
import { openTicket, peerIdOf } from '../../../src/carriers/swarm/wire/index.ts'
import { systemClock } from '../../../src/kernel/index.ts'

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-cert-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const authority = new SwarmAuthority(systemClock, SwarmAuthority.make(systemClock))
  const keep = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  return { authority, keep }
}

test('openssl accepts a peer certificate for both ends of TLS, strictly', () => {
  const { authority, keep } = setup()
  const id = agentPeerId('agent, "one"', 'container/二')
  const ca = keep('ca.pem', authority.certificate)
  const leaf = keep('leaf.pem', authority.credentials(id).certificate)
  for (const purpose of ['sslserver', 'sslclient']) {
    const said = execFileSync('openssl', ['verify', '-x509_strict', '-purpose', purpose, '-CAfile', ca, leaf])
    expect(String(said)).toContain('OK')
  }
  const text = String(execFileSync('openssl', ['x509', '-in', leaf, '-noout', '-ext', 'subjectAltName']))
  expect(text).toContain(`URI:${id}`)
})

test('openssl does not accept a certificate of another authority', () => {
  const { authority, keep } = setup()
  const stranger = new SwarmAuthority(systemClock, SwarmAuthority.make(systemClock))
  const ca = keep('ca.pem', authority.certificate)
  const leaf = keep('leaf.pem', stranger.credentials(agentPeerId('a', '')).certificate)
  expect(() => execFileSync('openssl', ['verify', '-CAfile', ca, leaf], { stdio: 'pipe' })).toThrow()
})

test('a certificate names exactly one peer, whatever letters its name has', () => {
  const { authority } = setup()
  const id = agentPeerId('a, URI:wharf://agent/b/', '')
  const { subjectAltName } = new X509Certificate(authority.credentials(id).certificate)
  expect(peerIdOf(subjectAltName)).toBe(id)
  expect(peerIdOf(`URI:${id}, URI:wharf://agent/b/`)).toBeUndefined()
})

test('dates beyond 2049 and serial numbers with a high bit are well-formed', () => {
  const { keep } = setup()
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certificate = buildCertificate({
    serial: Buffer.from([0xff, 0x01]),
    subject: 'Näme',
    issuer: 'Näme',
    publicKey,
    issuerKey: { publicKey, privateKey },
    notBefore: new Date('2020-01-01T00:00:00Z'),
    notAfter: new Date('2071-12-31T23:59:59Z'),
  })
  const path = keep('odd.pem', certificate)
  const text = String(execFileSync('openssl', ['x509', '-in', path, '-noout', '-text']))
  expect(text).toContain('Dec 31 23:59:59 2071 GMT')
  expect(text).toMatch(/65281/)
  expect(String(execFileSync('openssl', ['verify', '-CAfile', path, path]))).toContain('OK')
})

test('a ticket is good until its time, and no letter of it can be changed', () => {
  const { authority } = setup()
  const content = { task: 't', sha256: 'f'.repeat(64), parent: 'p', child: 'c' }
  const text = authority.ticket(content)
  const key = createPublicKey(authority.verifyKeyPem)
  expect(openTicket(key, text, Date.now())).toMatchObject(content)
  expect(openTicket(key, text, Date.now() + 11 * 60_000)).toBeUndefined()
  const forged = Buffer.from(JSON.stringify({ ...content, child: 'd', expiresAt: 9e15 })).toString(
    'base64url',
  )
  expect(openTicket(key, `${forged}.${text.split('.')[1]}`, Date.now())).toBeUndefined()
})
