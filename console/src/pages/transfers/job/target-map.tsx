import { type PointerEvent, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useStore } from '../../../store.ts'
import { dark } from '../../../theme/mode.ts'
import { paletteOf } from '../../../theme/palette.ts'
import type { Target, TargetKind } from '../make/target-list.ts'
import { useTargetText } from '../target-text.ts'
import { cellAt, layOut, type MapLayout } from './map-layout.ts'

/**
 * One cell a target, drawn on a canvas: five thousand elements would make a page slow. Those who cannot see it have the
 * counts in the legend and the table below.
 */
export function TargetMap({ targets, shown }: { targets: readonly Target[]; shown: TargetKind | null }) {
  const { t } = useTranslation()
  const colours = paletteOf(useStore(dark))
  const textOf = useTargetText()
  const place = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  const [hovered, setHovered] = useState<number | null>(null)
  const layout = layOut(targets.length, width)
  useEffect(() => {
    if (!place.current) return
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    watcher.observe(place.current)
    return () => watcher.disconnect()
  }, [])
  useEffect(() => {
    if (canvas.current && width > 0)
      draw(canvas.current, { targets, layout, width, shown, hovered, colours: coloursOf(colours) })
  })
  const onPointerMove = ({ nativeEvent }: PointerEvent) =>
    setHovered(cellAt(layout, nativeEvent.offsetX, nativeEvent.offsetY, targets.length))
  const under = hovered === null ? undefined : targets[hovered]
  return (
    <div ref={place} className="target-map">
      <canvas
        ref={canvas}
        role="img"
        aria-label={t('transfers.map.label', { count: targets.length })}
        style={{ width, height: layout.height }}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setHovered(null)}
      />
      <p className="target-map-under" aria-hidden="true">
        {under ? (
          <>
            {under.key !== '' && <b>{under.key.replace(/:$/, '')}</b>} {textOf(under)}
          </>
        ) : (
          t('transfers.map.hint')
        )}
      </p>
    </div>
  )
}

function coloursOf(colours: ReturnType<typeof paletteOf>): Record<TargetKind | 'ink', string> {
  return {
    success: colours.ok,
    downloading: colours.primary,
    absent: colours.wait,
    failed: colours.bad,
    timeout: colours.warn,
    waiting: colours.ink2,
    ink: colours.ink,
  }
}

interface Drawing {
  targets: readonly Target[]
  layout: MapLayout
  width: number
  shown: TargetKind | null
  hovered: number | null
  colours: Record<TargetKind | 'ink', string>
}

const FAINT = 0.12

function draw(canvas: HTMLCanvasElement, { targets, layout, width, shown, hovered, colours }: Drawing): void {
  const scale = window.devicePixelRatio || 1
  canvas.width = width * scale
  canvas.height = Math.max(1, layout.height) * scale
  const context = canvas.getContext('2d')
  if (!context) return
  context.scale(scale, scale)
  const { cell, gap, columns } = layout
  const side = cell - gap
  for (const [index, { kind, progress }] of targets.entries()) {
    const x = (index % columns) * cell
    const y = Math.floor(index / columns) * cell
    const strength = kind === 'downloading' || kind === 'waiting' ? 0.3 : 1
    context.fillStyle = colours[kind]
    context.globalAlpha = shown !== null && shown !== kind ? FAINT : strength
    context.fillRect(x, y, side, side)
    if (kind === 'downloading' && (shown === null || shown === kind)) {
      // Fills up from below as the file arrives.
      const height = (side * progress) / 100
      context.globalAlpha = 1
      context.fillRect(x, y + side - height, side, height)
    }
    if (index !== hovered) continue
    context.globalAlpha = 1
    context.strokeStyle = colours.ink
    context.lineWidth = 2
    context.strokeRect(x, y, side, side)
  }
}
