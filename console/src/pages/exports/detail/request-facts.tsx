import type { ParseKeys, TFunction } from 'i18next'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { FactList } from '../../../parts/page/detail-columns.tsx'
import { nameOf } from '../builder/node-name.ts'
import { EMPTY_TREE, readTemplate, type TreeNode } from '../builder/template-tree.ts'
import { asWritten } from '../make/use-start.ts'

type Json = Record<string, unknown>

/** What was asked for, in words where there are some; headers and credentials by their names alone. */
export function RequestFacts({
  request,
  sealed,
  text,
}: {
  request: Json
  sealed: readonly string[]
  text: string
}) {
  const { t } = useTranslation()
  const { source_url, source, sheets, template, header, footer, csv, notify, ...rest } = request
  const { kind, auth, ...shape } = (source ?? {}) as Json
  const secrets = sealed.map((name) => name.replace(/^source_headers\.|^source\.headers\./, ''))
  const template_text = template === undefined ? null : asWritten(text, 'request.template')
  const facts: [string, unknown][] = [
    [t('make.request.source'), source_url ?? (kind === 'http' ? shape.url : undefined)],
    [t('make.request.connection'), kind === 'sql' ? shape.connection : undefined],
    [
      t('make.request.query'),
      kind === 'sql' ? <pre className="request-text">{String(shape.query)}</pre> : undefined,
    ],
    [t('make.request.params'), kind === 'sql' && shape.params ? JSON.stringify(shape.params) : undefined],
    [
      t('make.request.shape'),
      kind === 'http' ? shapeText(shape) : kind === 'audit' ? t('make.source.kind.audit') : undefined,
    ],
    [t('make.request.auth'), (auth as Json | undefined)?.kind],
    [t('make.request.secrets'), secrets.length > 0 ? <code>{secrets.join(', ')}</code> : undefined],
    [t('make.request.sheets'), Array.isArray(sheets) ? <SheetNames sheets={sheets as Json[]} /> : undefined],
    [
      t('make.request.columns'),
      template_text === null ? t('make.request.by_source') : <Columns text={template_text} />,
    ],
    ...[...Object.entries(rest), ...Object.entries({ header, footer, csv, notify })]
      .filter(([name]) => name !== 'type')
      .map(([name, value]): [string, unknown] => [
        t(`make.request.field.${name as 'title'}`, { defaultValue: name }),
        inWords(name, value, t),
      ]),
  ]
  return <FactList facts={facts.map(([name, value]) => [name, value as ReactNode])} />
}

/** Those of a choice as the form says them. */
function inWords(name: string, value: unknown, t: TFunction): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'boolean') return t(value ? 'make.request.yes' : 'make.request.no')
  const chosen = CHOICES[`${name} ${value}`]
  if (chosen !== undefined) return t(chosen)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

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

function shapeText({ url: _, preset, ...shape }: Json): string | undefined {
  const more = Object.keys(shape).length > 0 ? JSON.stringify(shape) : ''
  return [preset, more].filter(Boolean).join(' ') || undefined
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
