import type { Scope } from '../../../api/admin.ts'
import { useWords } from '../words.ts'

const DOMAINS = ['exports', 'transfers', 'processing', 'runs'] as const

/** What a key may do, in words; the scope itself is for those who write programs. */
export function useScopeText(): (scope: Scope) => string {
  const t = useWords()
  return (scope) => {
    if (scope === 'all' || scope === 'read') return t(`key.kind.${scope}`)
    const [name, deed] = scope.split(':')
    const domain = DOMAINS.find((one) => one === name)
    if (!domain) return scope
    const of = t(`key.domain.${domain}`)
    return deed === 'read' || deed === 'write' ? t(`key.deed.${deed}`, { domain: of }) : of
  }
}
