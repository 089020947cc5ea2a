import type { Config } from '../../config.ts'
import { Mailer } from '../../notify/index.ts'

/** Null where nobody has said how mail is sent; without a public address its links would lead nowhere. */
export function openMailer({
  SMTP_URL: url,
  SMTP_FROM: from,
  WHARF_PUBLIC_URL: publicUrl,
}: Config): Mailer | null {
  if (url === null) return null
  return new Mailer({ url, from, publicUrl: publicUrl ?? 'http://localhost' })
}
