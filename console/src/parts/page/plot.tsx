import { BarChart, LineChart } from 'echarts/charts'
import { GridComponent, TooltipComponent } from 'echarts/components'
import { type EChartsCoreOption, type EChartsType, init, use } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import { useEffect, useRef } from 'react'

use([BarChart, LineChart, GridComponent, TooltipComponent, CanvasRenderer])

const FONT = 'system-ui, -apple-system, "Segoe UI", "PingFang SC", "Microsoft YaHei", sans-serif'

/** An ECharts plot with a sentence for those who cannot see it. Only the parts named above are in the bundle. */
export function Plot({
  label,
  option,
  height,
}: {
  label: string
  option: EChartsCoreOption
  height: number
}) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<EChartsType | null>(null)
  useEffect(() => {
    if (!place.current) return
    const made = init(place.current, null, { renderer: 'canvas' })
    chart.current = made
    const watcher = new ResizeObserver(() => made.resize())
    watcher.observe(place.current)
    return () => {
      watcher.disconnect()
      made.dispose()
      chart.current = null
    }
  }, [])
  useEffect(() => {
    chart.current?.setOption(
      { animation: false, textStyle: { fontFamily: FONT }, ...option },
      { notMerge: true },
    )
  })
  return <div ref={place} role="img" aria-label={label} style={{ height }} />
}
