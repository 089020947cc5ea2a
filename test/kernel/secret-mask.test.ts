import { expect, test } from 'vitest'
import { AppError, createLog, ERRORS, excerpt, SecretMask } from '../../src/kernel/index.ts'

const SECRET = 'p@ss/w+rd & "quoted" é'
const base64 = (text: string) => Buffer.from(text).toString('base64')

const FORMS: Record<string, string> = {
  'as it is': SECRET,
  'in JSON': JSON.stringify({ password: SECRET }),
  'in an address': `https://u:${encodeURIComponent(SECRET)}@host`,
  'in lower case': encodeURIComponent(SECRET).replace(/%../g, (code) => code.toLowerCase()),
  'in a form': new URLSearchParams({ SECRET }).toString(),
  'in XML': SECRET.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
  'in a header, read as Latin-1': Buffer.from(SECRET).toString('latin1'),
  'as Basic': `Basic ${base64(`u:${SECRET}`)}`,
  'with a longer name': `Basic ${base64(`user:${SECRET}`)}`,
  'as PLAIN of a mail server': base64(`\0user\0${SECRET}`),
  'for addresses': Buffer.from(`xy${SECRET}z`).toString('base64url'),
}

test('a secret is hidden in every form in which another side repeats it', () => {
  const mask = new SecretMask().add(SECRET)
  for (const [what, text] of Object.entries(FORMS)) {
    const masked = mask.text(`it says: ${text}, and more`)
    expect(masked, what).toContain('***')
    expect(masked, what).toMatch(/^it says: .*, and more$/)
    for (const form of [SECRET, base64(SECRET).slice(4, -6), encodeURIComponent(SECRET).slice(0, -6)])
      expect(masked, what).not.toContain(form)
  }
  expect(mask.text('nothing of it')).toBe('nothing of it')
})

test('the beginning of a secret that was cut in two is hidden too', () => {
  const mask = new SecretMask().add(SECRET)
  for (let most = 12; most < 12 + SECRET.length; most++)
    expect(mask.text(excerpt(`says: ${SECRET}`, most)), String(most)).toMatch(/^says: \*\*\*…?$/)
})

test('headers are hidden as a whole and in parts, and so are addresses; what everyone sends is not', () => {
  const mask = new SecretMask()
    .addHeaders({
      Authorization: `Basic ${base64('anna:open sesame')}`,
      Cookie: 'lang=en; session=0123456789abcdef',
      Accept: 'application/json',
    })
    .addUrl('https://bob:moon%20light@host/?api_key=sunshine&page=12345')
    .addUrl('ftp:\\\\eve:starlight@nowhere:port')
    .addNamed({ query: 'orders', login: { user: 'anna', password: 'rainbow' } })
  const said =
    'anna open sesame 0123456789abcdef application/json moon light sunshine 12345 starlight orders rainbow'
  expect(mask.text(said)).toBe('anna *** *** application/json *** *** 12345 *** orders ***')
})

test('an error keeps its kind and loses its secrets, with all that it was caused by', () => {
  const mask = new SecretMask().add(SECRET)
  const cause = Object.assign(new Error(`socket: ${SECRET}`), { answer: { headers: [SECRET] } })
  const error = new AppError(ERRORS.SOURCE_STATUS, `no: ${SECRET}`, {
    cause,
    details: { said: SECRET, status: 403 },
    retryable: false,
  })
  const masked = mask.error(error)
  expect(masked).toBe(error)
  expect(masked).toMatchObject({ kind: ERRORS.SOURCE_STATUS, retryable: false, message: 'no: ***' })
  expect(masked.details).toEqual({ said: '***', status: 403 })
  const lines: string[] = []
  const log = mask.log(createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } }))
  log.child({ job: SECRET }).warn({ err: error, said: [SECRET] }, `again: ${SECRET}`)
  expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'again: ***', said: ['***'], job: '***' })
  expect(`${lines} ${JSON.stringify(cause)} ${cause.stack} ${error.stack}`).not.toContain('p@ss')
})
