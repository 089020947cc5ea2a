import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../parts/text/format.ts'
import { TARGET_KINDS, type TargetKind } from '../make/target-list.ts'

/** What the colours mean, how many there are of each, and a way to see only one of them. */
export function Legend({
  counts,
  shown,
  onShow,
}: {
  counts: Record<TargetKind, number>
  shown: TargetKind | null
  onShow(kind: TargetKind | null): void
}) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <fieldset className="target-legend">
      <legend className="visually-hidden">{t('transfers.map.filter')}</legend>
      {TARGET_KINDS.filter((kind) => counts[kind] > 0 || kind === shown).map((kind) => (
        <button
          key={kind}
          type="button"
          data-kind={kind}
          aria-pressed={shown === kind}
          onClick={() => onShow(shown === kind ? null : kind)}
        >
          <span className="target-legend-colour" />
          {t(`transfers.kind.${kind}`)} <b>{format.number(counts[kind])}</b>
        </button>
      ))}
    </fieldset>
  )
}
