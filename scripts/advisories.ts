import { spawnSync } from 'node:child_process'
import { Command } from 'commander'

/** What a check has found: what must be repaired, or why the registry could not be asked. */
export type Finding = { ok: true; found: string } | { ok: false; found: string } | { skipped: string }

interface AuditAnswer {
  metadata?: { vulnerabilities?: Record<string, number> }
  vulnerabilities?: Record<string, { severity: string }>
}

interface SignaturesAnswer {
  invalid?: { name: string; version: string }[]
  missing?: unknown[]
}

/** `npm audit --json`: fails for what is high or critical. */
export function judgeAudit(output: string): Finding {
  const answer = parsed<AuditAnswer>(output)
  const counts = answer?.metadata?.vulnerabilities
  if (!counts) return { skipped: 'the registry answers no questions about vulnerabilities' }
  const bad = Object.entries(answer.vulnerabilities ?? {})
    .filter(([, { severity }]) => severity === 'high' || severity === 'critical')
    .map(([name, { severity }]) => `${name} (${severity})`)
  if (bad.length > 0) return { ok: false, found: `known vulnerabilities: ${bad.join(', ')}` }
  return { ok: true, found: 'no high or critical vulnerability is known' }
}

/** `npm audit signatures --json`: fails for a signature that is wrong, not for one that a mirror does not have. */
export function judgeSignatures(output: string): Finding {
  const answer = parsed<SignaturesAnswer>(output)
  if (!Array.isArray(answer?.invalid)) return { skipped: 'the registry has no keys to check signatures with' }
  const wrong = answer.invalid.map(({ name, version }) => `${name}@${version}`)
  if (wrong.length > 0) return { ok: false, found: `wrong signatures: ${wrong.join(', ')}` }
  return { ok: true, found: 'no signature of a package is wrong' }
}

function parsed<T>(output: string): T | undefined {
  try {
    const value: unknown = JSON.parse(output)
    return typeof value === 'object' && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}

const QUICKLY = ['--json', '--fetch-retries=0', '--fetch-timeout=20000']
const LIMIT_MS = 120_000

function ask(args: string[]): string {
  return spawnSync('npm', [...args, ...QUICKLY], { encoding: 'utf8', timeout: LIMIT_MS }).stdout ?? ''
}

if (import.meta.main) {
  new Command('npm run advisories --')
    .description('Asks the registry for known vulnerabilities of the dependencies, and for their signatures.')
    .parse()
  const findings = [
    judgeAudit(ask(['audit', '--omit=dev'])),
    judgeSignatures(ask(['audit', 'signatures', '--omit=dev'])),
  ]
  for (const finding of findings)
    console.log(
      'skipped' in finding ? `advisories: not checked, ${finding.skipped}` : `advisories: ${finding.found}`,
    )
  process.exit(findings.some((finding) => 'ok' in finding && !finding.ok) ? 1 : 0)
}
