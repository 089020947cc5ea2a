import { type Command, InvalidArgumentError } from 'commander'
import type { SourceAccess } from '../../app/export.ts'
import { loadConfig } from '../../config.ts'

/** What `export` and `doctor` have in common: how to reach the source. */
export interface SourceOptions {
  header?: Record<string, string>
  secret?: string
  allowHosts?: string
}

export function addSourceOptions(command: Command): Command {
  return command
    .option('--header <line>', "sent to the source, as 'Name: value'; may be given again", collectHeader)
    .option('--secret <whsec_…>', 'signs each request, as a server does with a project’s webhook secret')
    .option('--allow-hosts <list>', 'private hosts and CIDRs that a redirect may lead to (WHARF_ALLOW_HOSTS)')
}

export function sourceAccess(url: string, { header = {}, secret, allowHosts }: SourceOptions): SourceAccess {
  return {
    url,
    headers: header,
    secret,
    allowHosts: allowHosts ?? loadConfig(process.env).WHARF_ALLOW_HOSTS ?? undefined,
  }
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (number >= min && number <= max) return number
    throw new InvalidArgumentError(`It takes a whole number from ${min} to ${max}.`)
  }
}

function collectHeader(line: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/s.exec(line) ?? []
  if (name === undefined || value === undefined) throw new InvalidArgumentError("It takes 'Name: value'.")
  return { ...before, [name]: value }
}
