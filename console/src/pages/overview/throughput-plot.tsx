import { useTranslation } from 'react-i18next'
import type { DomainHistory } from '../../api/overview.ts'
import { Plot } from '../../parts/page/plot.tsx'
import { useStore } from '../../store.ts'
import { dark } from '../../theme/mode.ts'
import { paletteOf } from '../../theme/palette.ts'

const HOUR = 3_600
const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const DAY = { month: 'short', day: 'numeric' } as const

/** Finished and failed, step by step, one bar upon the other; pointed at, it says how many and when. */
export function ThroughputPlot({
  label,
  steps,
  stepSeconds,
}: {
  label: string
  steps: DomainHistory['steps']
  stepSeconds: number
}) {
  const { t, i18n } = useTranslation()
  const colours = paletteOf(useStore(dark))
  const short = new Intl.DateTimeFormat(i18n.language, stepSeconds > HOUR ? DAY : CLOCK)
  const exact = new Intl.DateTimeFormat(i18n.language, stepSeconds >= HOUR / 2 ? { ...DAY, ...CLOCK } : CLOCK)
  const spanOf = (at: string) => {
    const from = Date.parse(at)
    return t('overview.span', { from: exact.format(from), until: exact.format(from + stepSeconds * 1_000) })
  }
  const series = (['finished', 'failed'] as const).map((what) => ({
    name: t(`overview.${what}`),
    type: 'bar' as const,
    stack: 'all',
    barCategoryGap: '25%',
    itemStyle: { color: what === 'failed' ? colours.bad : colours.primary },
    data: steps.map((step) => step[what]),
  }))
  return (
    <Plot
      label={label}
      height={120}
      option={{
        grid: {
          left: 4,
          right: 4,
          top: 8,
          bottom: 0,
          outerBoundsMode: 'same',
          outerBoundsContain: 'axisLabel',
        },
        tooltip: { trigger: 'axis', renderMode: 'richText', confine: true },
        xAxis: {
          type: 'category',
          data: steps.map(({ at }) => spanOf(at)),
          axisTick: { show: false },
          axisLabel: {
            interval: Math.max(1, Math.round(steps.length / 4)) - 1,
            color: colours.ink2,
            formatter: (_span: string, index: number) => short.format(Date.parse(steps[index]?.at ?? '')),
          },
          axisLine: { lineStyle: { color: colours.line } },
        },
        yAxis: {
          type: 'value',
          minInterval: 1,
          splitNumber: 2,
          axisLabel: { color: colours.ink2 },
          splitLine: { lineStyle: { color: colours.line } },
        },
        series,
      }}
    />
  )
}
