import type { FieldName } from './request/field-of-path.ts'

/** Opens whatever the field is folded into, brings it into view and puts the cursor there. */
export function revealField(root: HTMLElement | null, name: FieldName): void {
  const exact = root?.querySelector<HTMLElement>(`#${CSS.escape(name.join('_'))}`)
  const place =
    exact ??
    root?.querySelector<HTMLElement>(`[data-field="${CSS.escape(String(name[0]))}"]`) ??
    root?.querySelector<HTMLElement>('.ant-form-item-has-error')
  if (!place) return
  for (let fold = place.closest('details'); fold; fold = fold.parentElement?.closest('details') ?? null)
    fold.open = true
  place.scrollIntoView({ block: 'center' })
  const target = place.matches('input, textarea, button, [tabindex]')
    ? place
    : place.querySelector<HTMLElement>('input, textarea, button, [tabindex]')
  target?.focus({ preventScroll: true })
}
