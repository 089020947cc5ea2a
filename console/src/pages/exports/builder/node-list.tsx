import {
  ArrowDownOutlined,
  ArrowUpOutlined,
  DeleteOutlined,
  FolderOutlined,
  HolderOutlined,
  MenuFoldOutlined,
  MenuUnfoldOutlined,
  UngroupOutlined,
} from '@ant-design/icons'
import { Button, Checkbox } from 'antd'
import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Forest, isWithin, type Path, type Step, stepFrom } from './edit-tree.ts'
import { nameOf } from './node-name.ts'
import type { TreeNode } from './template-tree.ts'

interface Props {
  forest: Forest
  selected: Path
  marked: readonly string[]
  onMark(ids: readonly string[]): void
  onSelect(path: Path): void
  onMove(from: Path, to: Path): void
  onStep(path: Path, step: Step): void
  onRemove(path: Path): void
  onUngroup(path: Path): void
}

type Place = 'before' | 'after' | 'inside'
const STEPS: readonly [Step, ReactNode][] = [
  ['up', <ArrowUpOutlined key="up" />],
  ['down', <ArrowDownOutlined key="down" />],
  ['in', <MenuUnfoldOutlined key="in" />],
  ['out', <MenuFoldOutlined key="out" />],
]

/** Columns and their groups as an outline: moved with the mouse, or with the buttons of the chosen one. */
export function NodeList(props: Props) {
  const { t } = useTranslation()
  const dragged = useRef<Path | null>(null)
  const [over, setOver] = useState<{ id: string; place: Place } | null>(null)
  const drop = (path: Path, place: Place) => {
    const from = dragged.current
    dragged.current = null
    setOver(null)
    if (!from || isWithin(path, from)) return
    const index = path.at(-1) as number
    props.onMove(
      from,
      place === 'inside' ? [...path, 0] : place === 'before' ? path : path.with(-1, index + 1),
    )
  }
  const list = (forest: Forest, above: Path): ReactNode => (
    <ul className="builder-list">
      {forest.map((node, index) => {
        const path = [...above, index]
        const id = path.join('.')
        return (
          <li key={id}>
            {/* biome-ignore lint/a11y/noStaticElementInteractions: dragging is the mouse's way; the buttons do the same */}
            <div
              className="builder-node"
              data-chosen={props.selected.join('.') === id}
              data-over={over?.id === id ? over.place : undefined}
              draggable
              onDragStart={(event) => {
                dragged.current = path
                event.dataTransfer.effectAllowed = 'move'
                event.dataTransfer.setData('text/plain', nameOf(node))
              }}
              onDragEnd={() => setOver(null)}
              onDragOver={(event) => {
                if (!dragged.current || isWithin(path, dragged.current)) return
                event.preventDefault()
                const place = placeIn(event, node)
                if (over?.id !== id || over.place !== place) setOver({ id, place })
              }}
              onDrop={(event) => {
                event.preventDefault()
                drop(path, placeIn(event, node))
              }}
            >
              <HolderOutlined className="builder-handle" aria-hidden />
              <Checkbox
                checked={props.marked.includes(id)}
                onChange={({ target }) =>
                  props.onMark(
                    target.checked ? [...props.marked, id] : props.marked.filter((one) => one !== id),
                  )
                }
                aria-label={t('make.builder.mark', { name: nameOf(node) })}
              />
              <button
                type="button"
                className="builder-name"
                data-node={id}
                aria-pressed={props.selected.join('.') === id}
                onClick={() => props.onSelect(path)}
              >
                {node.children && <FolderOutlined aria-hidden />}
                <span className="builder-title">{nameOf(node) || '–'}</span>
                <Notes node={node} />
              </button>
              {props.selected.join('.') === id && (
                <span className="builder-steps">
                  {STEPS.map(([step, icon]) => (
                    <Button
                      key={step}
                      type="text"
                      size="small"
                      icon={icon}
                      data-step={step}
                      disabled={stepFrom(props.forest, path, step) === undefined}
                      aria-label={t(`make.builder.step.${step}`)}
                      title={t(`make.builder.step.${step}`)}
                      onClick={() => props.onStep(path, step)}
                    />
                  ))}
                  {node.children && (
                    <Button
                      type="text"
                      size="small"
                      icon={<UngroupOutlined />}
                      aria-label={t('make.builder.ungroup')}
                      title={t('make.builder.ungroup')}
                      onClick={() => props.onUngroup(path)}
                    />
                  )}
                </span>
              )}
              <Button
                type="text"
                size="small"
                icon={<DeleteOutlined />}
                aria-label={t('make.remove', { what: nameOf(node) })}
                onClick={() => props.onRemove(path)}
              />
            </div>
            {node.children && list(node.children, path)}
          </li>
        )
      })}
    </ul>
  )
  return list(props.forest, [])
}

/** What is set, in few signs: the key where the title is another, the type, totals and masks. */
function Notes({ node: { settings, children } }: { node: TreeNode }) {
  const { t } = useTranslation()
  const { name, title, type, totals, mask, condition_style } = settings as Record<string, string | undefined>
  const notes = [
    !children && title !== undefined && title !== name && name,
    type && t(`make.builder.types.${type as 'auto'}`),
    totals && t(`make.builder.totals.${totals as 'sum'}`),
    mask && t('make.builder.masked'),
    condition_style && t('make.builder.coloured'),
  ].filter(Boolean)
  return notes.length === 0 ? null : <span className="builder-notes">{notes.join(' · ')}</span>
}

/** The upper part of a row is before it, the lower after it, the middle of a group in it. */
function placeIn(event: DragEvent<HTMLElement>, node: TreeNode): Place {
  const { top, height } = event.currentTarget.getBoundingClientRect()
  const part = (event.clientY - top) / height
  if (node.children && part > 0.3) return 'inside'
  return part < 0.5 ? 'before' : 'after'
}
