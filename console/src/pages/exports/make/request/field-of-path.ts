import type { SourceKind } from './draft-fields.ts'

export type FieldName = (string | number)[]

/** Which field of the form a place in the request is; `template` stands for the columns, which are no field. */
export function fieldOfPath(path: string, kind: SourceKind): FieldName {
  const [first = '', ...rest] = path
    .replace(/^body\b/, '')
    .split(/[./[\]]+/)
    .filter((step) => step !== '')
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  if (first === 'template' || rest.includes('template')) return ['template']
  if (first === 'source_headers') return ['headers']
  if (first === 'header' || first === 'footer') return [first, 'mode']
  if (first === 'notify') return rest[0] === 'chat' ? ['chats', ...rest.slice(1)] : ['emails']
  if (first === 'parameters') return ['parameters']
  if (first !== 'source') return [first, ...rest]
  if (rest[0] === 'headers') return ['headers']
  if (rest[0] === 'auth') return ['auth', ...rest.slice(1)]
  if (kind === 'address') return ['source_url']
  if (kind === 'sql' && rest[0] === 'params') return ['sql', ...rest.slice(0, 2), 'value'].slice(0, 4)
  return [kind, ...rest]
}
