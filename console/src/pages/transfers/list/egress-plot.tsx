import { useTranslation } from 'react-i18next'
import type { TransferItem } from '../../../api/transfers.ts'
import { Plot } from '../../../parts/page/plot.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { useStore } from '../../../store.ts'
import { dark } from '../../../theme/mode.ts'
import { paletteOf } from '../../../theme/palette.ts'

/** So many deliveries have room for a name each. */
const NAMED = 5
const NAME_LENGTH = 14

function shortened(name: string): string {
  const letters = [...name]
  return letters.length <= NAME_LENGTH ? name : `${letters.slice(0, NAME_LENGTH - 1).join('')}…`
}

/** What arrived at targets, and what of it the server sent itself, delivery by delivery, the oldest first. */
export function EgressPlot({ jobs }: { jobs: readonly TransferItem[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const colours = paletteOf(useStore(dark))
  const delivered = jobs.reduce((sum, job) => sum + job.delivered_bytes, 0)
  const sent = jobs.reduce((sum, job) => sum + (job.egress_bytes ?? 0), 0)
  const bars = (name: string, color: string, data: (number | null)[]) => ({
    name,
    type: 'bar' as const,
    barMaxWidth: 22,
    barGap: '10%',
    itemStyle: { color, borderRadius: [3, 3, 0, 0] },
    data,
  })
  return (
    <Plot
      label={t('transfers.egress.label', { delivered: format.bytes(delivered), sent: format.bytes(sent) })}
      height={220}
      option={{
        grid: {
          left: 4,
          right: 4,
          top: 10,
          bottom: 0,
          outerBoundsMode: 'same',
          outerBoundsContain: 'axisLabel',
        },
        tooltip: {
          trigger: 'axis',
          renderMode: 'richText',
          confine: true,
          valueFormatter: (value: unknown) => (typeof value === 'number' ? format.bytes(value) : '–'),
        },
        xAxis: {
          type: 'category',
          data: jobs.map((job) => `${job.file_name} · ${format.moment(job.created_at)}`),
          axisTick: { show: false },
          axisLabel: {
            color: colours.ink2,
            interval: jobs.length <= NAMED ? 0 : 'auto',
            formatter: (_name: string, index: number) => shortened(jobs[index]?.file_name ?? ''),
          },
          axisLine: { lineStyle: { color: colours.line } },
        },
        yAxis: {
          type: 'value',
          splitNumber: 3,
          axisLabel: { color: colours.ink2, formatter: (value: number) => format.bytes(value) },
          splitLine: { lineStyle: { color: colours.line } },
        },
        series: [
          bars(
            t('transfers.egress.delivered'),
            colours.primary,
            jobs.map((job) => job.delivered_bytes),
          ),
          bars(
            t('transfers.egress.sent'),
            colours.warn,
            jobs.map((job) => job.egress_bytes),
          ),
        ],
      }}
    />
  )
}
