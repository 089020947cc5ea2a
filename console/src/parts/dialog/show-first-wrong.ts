/** What antd's form tells of fields that are not filled in as they must be. */
interface Wrong {
  errorFields: { name: (string | number)[] }[]
}

/** The first wrong field: whatever hides it is opened, it is scrolled to, and has the focus. */
export function showFirstWrong({ errorFields }: Wrong): void {
  const found = errorFields
    .map(({ name }) => document.getElementById(name.join('_')))
    .filter((field) => field !== null)
  const first = found.sort((a, b) =>
    a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
  )[0]
  if (!first) return
  for (let fold = first.closest('details'); fold; fold = fold.parentElement?.closest('details') ?? null)
    fold.open = true
  first.scrollIntoView({ block: 'center' })
  first.focus({ preventScroll: true })
}
