import { useTranslation } from 'react-i18next'
import type { DomainFigures } from '../../api/overview.ts'
import { Plot } from '../../parts/plot.tsx'
import { useStore } from '../../store.ts'
import { dark } from '../../theme/mode.ts'
import { paletteOf } from '../../theme/palette.ts'

/** Finished and failed, minute by minute, one bar upon the other. */
export function ThroughputPlot({ name, minutes }: { name: string; minutes: DomainFigures['per_minute'] }) {
  const { t, i18n } = useTranslation()
  const colours = paletteOf(useStore(dark))
  const time = new Intl.DateTimeFormat(i18n.language, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const series = (['finished', 'failed'] as const).map((what) => ({
    name: t(`overview.${what}`),
    type: 'bar' as const,
    stack: 'all',
    barCategoryGap: '25%',
    itemStyle: { color: what === 'failed' ? colours.bad : colours.primary },
    data: minutes.map((minute) => minute[what]),
  }))
  const total = minutes.reduce((sum, { finished, failed }) => sum + finished + failed, 0)
  return (
    <Plot
      label={t('overview.plot_label', { name, count: total })}
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
          data: minutes.map(({ minute }) => time.format(new Date(minute))),
          axisTick: { show: false },
          axisLabel: { interval: 14, color: colours.ink2 },
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
