import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { onTestFinished } from 'vitest'
import { until } from './until.ts'

export interface Mail {
  from: string
  to: string[]
  /** As it came over the wire. */
  raw: string
}

/** A real SMTP server on loopback. It takes what it gets, unless it is told to answer otherwise. */
export class MailServer {
  readonly mails: Mail[] = []
  /** What the server says to a recipient, by address; null: it takes it. */
  answer: (to: string) => { code: number; message: string } | null = () => null
  #tries = 0
  readonly #server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    onRcptTo: ({ address }, _session, done) => {
      this.#tries++
      const said = this.answer(address)
      done(said && Object.assign(new Error(said.message), { responseCode: said.code }))
    },
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope
        this.mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString(),
        })
        done()
      })
    },
  })

  static async start(): Promise<MailServer> {
    const mail = new MailServer()
    await new Promise<void>((resolve) => mail.#server.listen(0, '127.0.0.1', resolve))
    // A client that leaves in the middle is part of some tests.
    mail.#server.on('error', () => undefined)
    onTestFinished(() => new Promise<void>((resolve) => mail.#server.close(() => resolve())))
    return mail
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#server.server.address() as AddressInfo).port}`
  }

  /** How often a recipient was named to it. */
  get tries(): number {
    return this.#tries
  }

  async mailTo(address: string): Promise<Mail> {
    return until(`a mail to ${address}`, () => this.mails.find(({ to }) => to.includes(address)))
  }
}

/** The parts of a mail, decoded. */
export function partsOf({ raw }: Mail): { subject: string; text: string; html: string } {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const boundary = /boundary="?([^"\r\n;]+)/.exec(head)?.[1] ?? ''
  const parts = rest.join('\r\n\r\n').split(`--${boundary}`)
  const part = (type: string) => {
    const found = parts.find((one) => one.includes(`Content-Type: ${type}`)) ?? ''
    const [headers = '', ...body] = found.split('\r\n\r\n')
    const content = body.join('\r\n\r\n')
    return /base64/i.test(headers) ? Buffer.from(content, 'base64').toString() : unquoted(content)
  }
  const subject = /^Subject: (.*(?:\r\n[ \t].*)*)/im.exec(head)?.[1] ?? ''
  return { subject: words(subject), text: part('text/plain'), html: part('text/html') }
}

function unquoted(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}

/** RFC 2047. */
function words(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_, how: string, content: string) =>
      how.toUpperCase() === 'B'
        ? Buffer.from(content, 'base64').toString('latin1')
        : unquotedLatin(content.replaceAll('_', ' ')),
    )
    .replace(/[\x80-\xff]+/g, (bytes) => Buffer.from(bytes, 'latin1').toString())
}

function unquotedLatin(text: string): string {
  return text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
