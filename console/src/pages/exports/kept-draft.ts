import type { ExportDraft } from '../../api/export-drafts.ts'

/** The sample has a draft of its own: looking at it costs nobody what they had filled in. */
const KEPT_AS = { own: 'wharf.draft.export', sample: 'wharf.draft.sample' }

/** A draft outlives going to another page and back, and a reload; it ends with the tab, and with signing out. */
export function keptDraft(of: keyof typeof KEPT_AS): ExportDraft | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT_AS[of]) ?? 'null') as ExportDraft | null
  } catch {
    return null
  }
}

export function keepDraft(of: keyof typeof KEPT_AS, draft: ExportDraft): void {
  sessionStorage.setItem(KEPT_AS[of], JSON.stringify(draft))
}

export function forgetDraft(of: keyof typeof KEPT_AS): void {
  sessionStorage.removeItem(KEPT_AS[of])
}
