import type { Sealer } from './sealer.ts'

const USERINFO = /^(\s*[a-z][a-z0-9+.-]*:[/\\]*)([^/?#\\]*)@/i
const SEALED = 'sealed.'
const MASK = '***'

/** An address as the ledger keeps it: the password in it, or a user name without one, is sealed. */
export function sealUrl(sealer: Sealer, url: string): string {
  return changeSecret(url, (secret) => `${SEALED}${sealer.seal(secret)}`)
}

/** The address as it was given. */
export function openUrl(sealer: Sealer, url: string): string {
  return changeSecret(url, (secret) =>
    secret.startsWith(SEALED) ? sealer.open(secret.slice(SEALED.length)) : secret,
  )
}

/** The address as it is shown. */
export function maskUrl(url: string): string {
  return changeSecret(url, () => MASK)
}

function changeSecret(url: string, change: (secret: string) => string): string {
  // Written in a way that only the parser understands: take it as the parser writes it.
  const text = USERINFO.test(url) || !hasUserinfo(url) ? url : new URL(url).href
  return text.replace(USERINFO, (_, scheme: string, userinfo: string) => {
    const colon = userinfo.indexOf(':') + 1
    const secret = userinfo.slice(colon)
    return `${scheme}${userinfo.slice(0, colon)}${secret === '' ? '' : change(secret)}@`
  })
}

function hasUserinfo(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}
