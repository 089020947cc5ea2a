import { type DraftFields, type SealedFrom, withoutSecrets } from './draft-fields.ts'

export interface StoredDraft {
  fields: DraftFields
  template: string
  sealedFrom: SealedFrom | null
  /** The version of the saved export that is being changed. */
  since: string | null
}

/** Drafts of this tab, one for each beginning, so that a look at another page loses none. They hold no secrets, outlive a session that expires, and go when one signs out or another key signs in. */
const keyOf = (of: string) => `wharf.draft ${of}`

export function storeDraft(of: string, { fields, ...draft }: StoredDraft): void {
  sessionStorage.setItem(keyOf(of), JSON.stringify({ ...draft, fields: withoutSecrets(fields) }))
}

export function storedDraft(of: string): StoredDraft | null {
  return JSON.parse(sessionStorage.getItem(keyOf(of)) ?? 'null') as StoredDraft | null
}

export function forgetDraft(of: string): void {
  sessionStorage.removeItem(keyOf(of))
}
