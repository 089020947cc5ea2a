import { AppError, ERRORS } from '../../kernel/index.ts'

/** A command line that cannot be carried out as it is. */
export class UsageError extends AppError {}

/** What every `--server` takes: the address of a Wharf, without a slash at its end. */
export function serverAddress(text: string): string {
  const url = URL.parse(text)
  const isPlain =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === ''
  if (isPlain) return url.href.replace(/\/+$/, '')
  throw new UsageError(
    ERRORS.CONFIG_INVALID,
    `--server takes an address like https://wharf.example.com, not '${text.slice(0, 200)}'`,
  )
}
