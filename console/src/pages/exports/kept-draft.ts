import type { ExportDraft } from '../../api/export-drafts.ts'

const KEPT_AS = 'wharf.draft.export'

/** A draft outlives going to another page and back, and a reload; it ends with the tab, and with signing out. */
export function keptDraft(): ExportDraft | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT_AS) ?? 'null') as ExportDraft | null
  } catch {
    return null
  }
}

export function keepDraft(draft: ExportDraft): void {
  sessionStorage.setItem(KEPT_AS, JSON.stringify(draft))
}

export function forgetDraft(): void {
  sessionStorage.removeItem(KEPT_AS)
}
