import type { TFunction } from 'i18next'
import type { Mistake } from '../../api/problem.ts'

const RULES = [
  'additionalProperties',
  'enum',
  'format',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'pattern',
  'required',
  'type',
] as const
const FIELDS = [
  'agent_id',
  'app_id',
  'biz_id',
  'callback',
  'container_id',
  'directory',
  'expires_at',
  'file_name',
  'handle',
  'max_rows',
  'name',
  'operator_id',
  'page_size',
  'password',
  'scopes',
  'sheet_name',
  'source_url',
  'timezone',
  'title',
  'url',
  'user',
] as const

const isOne = <T extends string>(list: readonly T[], value: unknown): value is T => list.includes(value as T)

/** What a field must be, in the words of a form; undefined for rules that no form breaks. */
export function ruleText(t: TFunction, { rule, limit = 0 }: Mistake): string | undefined {
  return isOne(RULES, rule) ? t(`rule.${rule}`, { ns: 'mistakes', count: limit, limit }) : undefined
}

/** The field by the name that forms have for it, and what it must be. */
export function mistakeText(t: TFunction, mistake: Mistake): string {
  const { path, message, name } = mistake
  const said = ruleText(t, mistake)
  const field = name ?? fieldOf(path)
  if (said === undefined || field === undefined) return `${path} ${message}`.trim()
  const label = isOne(FIELDS, field) ? t(`field.${field}`, { ns: 'mistakes' }) : field
  return t('mistake', { ns: 'mistakes', field: label, said })
}

/** The last step that is a name: items of a list are meant by the list. */
function fieldOf(path: string): string | undefined {
  return path
    .split('/')
    .slice(1)
    .findLast((step) => !/^\d+$/.test(step))
}
