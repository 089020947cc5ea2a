import { FolderAddOutlined, PlusOutlined } from '@ant-design/icons'
import { Alert, Button, Checkbox, Dropdown, Segmented } from 'antd'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SheetPreview } from '../../../api/export-drafts.ts'
import './builder.css'
import { ColumnForm } from './column-form.tsx'
import {
  type Edited,
  type Forest,
  groupNodes,
  insertAt,
  moveTo,
  namesIn,
  nodeAt,
  type Path,
  removeAt,
  type Step,
  setSettings,
  stepFrom,
  ungroup,
} from './edit-tree.ts'
import { useNextFocus } from './next-focus.ts'
import { NodeList } from './node-list.tsx'
import { RowForm } from './row-form.tsx'
import { suggestColumn } from './suggest-columns.ts'
import { EMPTY_TREE, readTemplate, type TemplateTree, type TreeNode, writeTemplate } from './template-tree.ts'

interface Props {
  text: string
  onChange(text: string): void
  /** The first rows, once somebody has looked at them. */
  seen: SheetPreview | undefined
  onLook(): void
  isLooking: boolean
  onJson(): void
}

type Side = 'columns' | 'rows'

/** A template by form. Its state is the text alone: the JSON beside it says the same thing at any time. */
export function TemplateBuilder({ text, onChange, seen, onLook, isLooking, onJson }: Props) {
  const { t } = useTranslation()
  const [side, setSide] = useState<Side>('columns')
  const [selected, setSelected] = useState<Path>([])
  const [marked, setMarked] = useState<readonly string[]>([])
  const root = useRef<HTMLDivElement>(null)
  const focusNext = useNextFocus(root)
  const reading = readTemplate(text)
  if (reading.kind === 'use')
    return <Alert type="info" showIcon title={t('make.builder.by_name', { name: reading.name })} />
  if (reading.kind === 'text only')
    return (
      <Alert
        type="warning"
        showIcon
        title={t('make.builder.text_only')}
        action={<Button onClick={onJson}>JSON</Button>}
      />
    )
  const tree = text.trim() === '' ? beginning(seen) : reading.tree
  const forest = tree[side]
  const node = nodeAt(forest, selected)
  const write = (change: Partial<TemplateTree>) => onChange(writeTemplate({ ...tree, ...change }))
  const setForest = (next: Forest) => write({ [side]: next })
  const put = ({ forest: next, path }: Edited) => {
    setForest(next)
    setSelected(path)
    setMarked([])
  }
  const move = (from: Path, to: Path | undefined, step?: Step) => {
    if (!to) return
    const moved = moveTo(forest, from, to)
    put(moved)
    focusNext({ node: moved.path, ...(step && { step }) })
  }
  /** The next one takes its place, or else the one before it. */
  const without = (path: Path, next: Forest) => {
    setForest(next)
    setMarked([])
    const before = path.with(-1, Math.max(0, (path.at(-1) ?? 0) - 1))
    const left = [path, before].find((one) => nodeAt(next, one)) ?? []
    setSelected(left)
    focusNext(left.length > 0 ? { node: left } : 'add')
  }
  const end = [forest.length]
  const add = (added: TreeNode) => {
    put({ forest: insertAt(forest, end, [added]), path: end })
    focusNext('form')
  }
  const used = namesIn(tree.columns)
  const unused = (seen?.keys ?? []).filter((name) => !used.has(name))
  const sampleOf = (name: string) => sampleValues(seen, name)

  if (tree.columns.length === 0 && tree.rows.length === 0 && !seen)
    return (
      <div className="builder-empty">
        <p>{t('make.builder.empty')}</p>
        <Button type="primary" onClick={onLook} loading={isLooking}>
          {t('make.builder.look')}
        </Button>
      </div>
    )
  return (
    <div className="builder" ref={root}>
      <Segmented<Side>
        aria-label={t('make.builder.side')}
        value={side}
        onChange={(next) => {
          setSide(next)
          setSelected([])
          setMarked([])
        }}
        options={[
          { value: 'columns', label: t('make.builder.columns', { count: namesIn(tree.columns).size }) },
          { value: 'rows', label: t('make.builder.rows') },
        ]}
      />
      <p className="make-hint">{t(`make.builder.${side}_text`)}</p>
      <NodeList
        forest={forest}
        selected={selected}
        marked={marked}
        onMark={setMarked}
        onSelect={setSelected}
        onMove={move}
        onStep={(path, step: Step) => move(path, stepFrom(forest, path, step), step)}
        onRemove={(path) => without(path, removeAt(forest, path))}
        onUngroup={(path) => without(path, ungroup(forest, path))}
      />
      <div className="builder-add">
        {side === 'columns' ? (
          <Dropdown
            trigger={['click']}
            menu={{
              items: [
                ...unused.map((name) => ({ key: `+${name}`, label: name })),
                { key: 'other', label: t('make.builder.other_column') },
              ],
              onClick: ({ key }) =>
                key.startsWith('+')
                  ? add(suggestColumn(key.slice(1), sampleOf(key.slice(1))))
                  : add({ settings: { name: '', title: t('make.builder.new_column') }, children: null }),
            }}
          >
            <Button icon={<PlusOutlined />}>
              {t('make.builder.add_column')}
              {unused.length > 0 && ` (${unused.length})`}
            </Button>
          </Dropdown>
        ) : (
          <Button
            icon={<PlusOutlined />}
            onClick={() => add({ settings: { name: '', title: t('make.builder.new_row') }, children: null })}
          >
            {t('make.builder.add_row')}
          </Button>
        )}
        <Button
          icon={<FolderAddOutlined />}
          disabled={marked.length === 0}
          onClick={() => {
            put(groupNodes(forest, marked.map(pathOf), t('make.builder.new_group')))
            focusNext('form')
          }}
        >
          {t('make.builder.group')}
        </Button>
        {text.trim() !== '' && (
          <Button
            type="text"
            onClick={() => {
              onChange('')
              setSelected([])
              setMarked([])
              focusNext('add')
            }}
          >
            {t('make.builder.reset')}
          </Button>
        )}
      </div>
      {side === 'rows' && tree.rows.length > 0 && (
        <Checkbox checked={tree.subtotals} onChange={({ target }) => write({ subtotals: target.checked })}>
          {t('make.builder.subtotals')}
        </Checkbox>
      )}
      {node &&
        (side === 'columns' ? (
          <ColumnForm
            key={selected.join()}
            node={node}
            keys={seen?.keys ?? []}
            onChange={(settings) => setForest(setSettings(forest, selected, settings))}
          />
        ) : (
          <RowForm
            key={selected.join()}
            node={node}
            onChange={(settings) => setForest(setSettings(forest, selected, settings))}
          />
        ))}
    </div>
  )
}

/** Before anything is said: the columns as they come, from the source's own template or from its rows. */
function beginning(seen: SheetPreview | undefined): TemplateTree {
  if (!seen) return EMPTY_TREE
  const own = seen.template === null ? undefined : readTemplate(seen.template)
  if (own?.kind === 'tree' && own.tree.columns.length > 0) return { ...own.tree, shape: shapeOf(own.tree) }
  const columns = seen.keys.map((name) => suggestColumn(name, sampleValues(seen, name)))
  return { ...EMPTY_TREE, columns, ...(own?.kind === 'tree' && { rows: own.tree.rows }) }
}

const shapeOf = ({ shape }: TemplateTree) => (shape === 'titles' ? 'list' : shape)

function sampleValues(seen: SheetPreview | undefined, name: string): unknown[] {
  const index = seen?.columns.findIndex((column) => column.name === name) ?? -1
  return index < 0 ? [] : (seen?.rows ?? []).map((row) => row[index])
}

const pathOf = (id: string): Path => id.split('.').map(Number)
