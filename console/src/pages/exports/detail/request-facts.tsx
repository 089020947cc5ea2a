import { Segmented } from 'antd'
import type { ParseKeys, TFunction } from 'i18next'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FactList } from '../../../parts/page/detail-columns.tsx'
import { indentJson } from '../../../parts/text/indent-json.ts'
import { nameOf } from '../builder/node-name.ts'
import { EMPTY_TREE, readTemplate, type TreeNode } from '../builder/template-tree.ts'
import { asWritten } from '../make/use-start.ts'
import { locateJson } from '../sheet/locate-json.ts'
import { ReadableValue } from './readable-value.tsx'

type Json = Record<string, unknown>

interface Asked {
  request: Json
  sealed: readonly string[]
  /** The whole answer, in which keys are in their order. */
  text: string
}

/** What was asked for: in words, or as JSON. */
export function RequestFacts(asked: Asked) {
  const { t } = useTranslation()
  const [view, setView] = useState<'words' | 'json'>('words')
  return (
    <>
      <Segmented
        className="request-view"
        size="small"
        aria-label={t('make.request.view')}
        value={view}
        onChange={setView}
        options={[
          { value: 'words', label: t('make.request.in_words') },
          { value: 'json', label: 'JSON' },
        ]}
      />
      {view === 'words' ? (
        <Facts {...asked} />
      ) : (
        <pre className="request-text">{indentJson(requestIn(asked.text))}</pre>
      )}
    </>
  )
}

function requestIn(text: string): string {
  const { from, to } = locateJson(text, 'request')
  return text.slice(from, to)
}

/** In words where there are some; headers and credentials by their names alone. */
function Facts({ request, sealed, text }: Asked) {
  const { t } = useTranslation()
  const { source_url, source, sheets, template, header, footer, csv, notify, type = 'csv', ...rest } = request
  const { kind, auth, ...shape } = (source ?? {}) as Json
  const isHeader = (name: string) => HEADER.test(name)
  const headers = sealed.filter(isHeader).map((name) => name.replace(HEADER, ''))
  const secrets = sealed.filter((name) => !isHeader(name))
  const template_text = template === undefined ? null : asWritten(text, 'request.template')
  const facts: [string, unknown][] = [
    [t('make.request.source'), source_url ?? (kind === 'http' ? shape.url : undefined)],
    [t('make.request.connection'), kind === 'sql' ? shape.connection : undefined],
    [
      t('make.request.query'),
      kind === 'sql' ? <pre className="request-text">{String(shape.query)}</pre> : undefined,
    ],
    [
      t('make.request.params'),
      kind === 'sql' && shape.params ? <ReadableValue value={shape.params} /> : undefined,
    ],
    [
      t('make.request.shape'),
      kind === 'http' ? shapeOf(shape, t) : kind === 'audit' ? t('make.source.kind.audit') : undefined,
    ],
    [
      t('make.request.auth'),
      auth ? t(`make.access.kind.${(auth as { kind: 'basic' }).kind}`, { defaultValue: '' }) : undefined,
    ],
    [t('make.access.headers'), headers.length > 0 ? <code>{headers.join(', ')}</code> : undefined],
    [t('make.request.secrets'), secrets.length > 0 ? <code>{secrets.join(', ')}</code> : undefined],
    [t('exports.fact.type'), t(`exports.type.${type as 'csv'}`, { defaultValue: String(type) })],
    [t('make.request.sheets'), Array.isArray(sheets) ? <SheetNames sheets={sheets as Json[]} /> : undefined],
    [
      t('make.request.columns'),
      template_text === null ? t('make.request.by_source') : <Columns text={template_text} />,
    ],
    ...[...Object.entries(rest), ...Object.entries({ header, footer, csv, notify })].map(
      ([name, value]): [string, unknown] => [
        t(`make.request.field.${name as 'title'}`, { defaultValue: name }),
        inWords(name, value, t),
      ],
    ),
  ]
  return <FactList facts={facts.map(([name, value]) => [name, value as ReactNode])} />
}

/** Those of a choice as the form says them. */
function inWords(name: string, value: unknown, t: TFunction): ReactNode {
  if (value === undefined) return undefined
  const chosen = CHOICES[`${name} ${value}`]
  if (chosen !== undefined) return t(chosen)
  return <ReadableValue value={value} />
}

/** How the names of sealed headers begin. */
const HEADER = /^source(?:_headers|\.headers)\./

const CHOICES: Record<string, ParseKeys> = {
  'template_from request': 'make.request.by_request',
  'template_from source': 'make.request.by_the_source',
  'on_duplicates fail': 'make.reading.duplicates.fail',
  'on_duplicates warn': 'make.reading.duplicates.warn',
  'priority interactive': 'make.reading.priorities.interactive',
  'priority scheduled': 'make.reading.priorities.scheduled',
  'theme business': 'make.look.themes.business',
  'theme plain': 'make.look.themes.plain',
}

function shapeOf({ url: _, headers: __, preset, ...shape }: Json, t: TFunction): ReactNode {
  const hasMore = Object.keys(shape).length > 0
  if (preset === undefined && !hasMore) return undefined
  return (
    <>
      {preset !== undefined && t(`make.http.names.${preset as 'drf'}`, { defaultValue: String(preset) })}
      {hasMore && <ReadableValue value={shape} />}
    </>
  )
}

function SheetNames({ sheets }: { sheets: Json[] }) {
  return (
    <ul className="request-list">
      {sheets.map((sheet) => (
        <li key={String(sheet.name)}>
          {String(sheet.name)}: {String(sheet.source_url)}
        </li>
      ))}
    </ul>
  )
}

/** The titles of the columns; the text itself for whoever wants to see it. */
function Columns({ text }: { text: string }) {
  const { t } = useTranslation()
  const reading = readTemplate(text)
  const { columns } = reading.kind === 'tree' ? reading.tree : EMPTY_TREE
  const words = reading.kind === 'use' ? t('make.builder.by_name', { name: reading.name }) : titles(columns)
  return (
    <>
      {words}
      <details>
        <summary className="request-more">JSON</summary>
        <pre className="request-text">{text}</pre>
      </details>
    </>
  )
}

function titles(nodes: readonly TreeNode[]): string {
  return nodes
    .map((node) => (node.children ? `${nameOf(node)} (${titles(node.children)})` : nameOf(node)))
    .join(', ')
}
