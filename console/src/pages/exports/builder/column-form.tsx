import { AutoComplete, Checkbox, InputNumber, Segmented, Select } from 'antd'
import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import { everyName } from '../../../api/every-name.ts'
import { type ColumnTotal, type ColumnType, MASKS } from '../../../api/exports.ts'
import { ConditionList } from './condition-list.tsx'
import { ColorFields, Field, settingsForm, TextField } from './shared-fields.tsx'
import type { Settings, TreeNode } from './template-tree.ts'

const TYPES = everyName<ColumnType>({
  auto: true,
  string: true,
  number: true,
  integer: true,
  money: true,
  percent: true,
  date: true,
  datetime: true,
  boolean: true,
  link: true,
})
const TOTALS = everyName<ColumnTotal>({ sum: true, avg: true, count: true, min: true, max: true })
const NUMBERS = [
  '0',
  '0.00',
  '#,##0',
  '#,##0.00',
  '0%',
  '0.00%',
  '¥#,##0.00',
  '€#,##0.00',
  '$#,##0.00',
  '#,##0.00;[Red]-#,##0.00',
]
const DATES = [
  'yyyy-mm-dd',
  'yyyy/m/d',
  'dd.mm.yyyy',
  'mm/dd/yyyy',
  'yyyy"年"m"月"d"日"',
  'yyyy-mm-dd hh:mm',
  'yyyy-mm-dd hh:mm:ss',
  'hh:mm',
]
/** What a type cannot be summed up to. */
const COUNT_ONLY = ['string', 'link', 'boolean']

interface Props {
  node: TreeNode
  keys: readonly string[]
  onChange(settings: Settings): void
}

/** Everything that can be said of a column or a group of columns. */
export function ColumnForm({ node: { settings, children }, keys, onChange }: Props) {
  const { t } = useTranslation()
  const form = settingsForm(settings, onChange)
  const { set, text } = form
  const type = (settings.type as string | undefined) ?? 'auto'
  const formats = type === 'date' || type === 'datetime' ? DATES : NUMBERS
  const isMasked = settings.mask !== undefined
  const maskHint = useId()
  const isPossible = (one: ColumnTotal) =>
    !isMasked && !COUNT_ONLY.includes(type) && !(one === 'sum' && type.startsWith('date'))
  const totals = TOTALS.filter((one) => one === 'count' || one === settings.totals || isPossible(one))
  return (
    <section className="builder-form" aria-label={t('make.builder.settings')}>
      <TextField form={form} name="title" label={t('make.builder.title')} />
      {!children && (
        <Field label={t('make.builder.key')}>
          {(id) => (
            <AutoComplete
              id={id}
              aria-label={t('make.builder.key')}
              value={text('name')}
              onChange={(value: string) => set('name', value)}
              options={keys.map((value) => ({ value }))}
              showSearch={{
                filterOption: (typed, option) =>
                  String(option?.value).toLowerCase().includes(typed.toLowerCase()),
              }}
            />
          )}
        </Field>
      )}
      {!children && (
        <Field label={t('make.builder.type')}>
          {(id) => (
            <Select
              id={id}
              aria-label={t('make.builder.type')}
              value={type}
              onChange={(value) => set('type', value === 'auto' ? undefined : value)}
              options={TYPES.map((value) => ({ value, label: t(`make.builder.types.${value}`) }))}
            />
          )}
        </Field>
      )}
      {!children && (
        <Field label={t('make.builder.format')}>
          {(id) => (
            <AutoComplete
              id={id}
              aria-label={t('make.builder.format')}
              value={text('format')}
              placeholder={t('make.builder.by_type')}
              onChange={(value: string) => set('format', value)}
              options={formats.map((value) => ({ value }))}
            />
          )}
        </Field>
      )}
      <Field label={t('make.builder.align')}>
        {() => (
          <Segmented
            aria-label={t('make.builder.align')}
            value={text('align') || 'center'}
            onChange={(value) => set('align', value)}
            options={(['left', 'center', 'right'] as const).map((value) => ({
              value,
              label: t(`make.builder.aligns.${value}`),
            }))}
          />
        )}
      </Field>
      {!children && (
        <Field label={t('make.builder.width')}>
          {(id) => (
            <InputNumber
              id={id}
              min={1}
              max={255}
              value={(settings.width as number | undefined) ?? null}
              placeholder={t('make.builder.fitted')}
              onChange={(value) => set('width', value)}
            />
          )}
        </Field>
      )}
      <ColorFields form={form} />
      {!children && (
        <>
          <Field label={t('make.builder.total')}>
            {(id) => (
              <Select
                id={id}
                aria-label={t('make.builder.total')}
                allowClear
                placeholder={t('make.builder.no_total')}
                value={settings.totals as string | undefined}
                aria-describedby={isMasked ? maskHint : undefined}
                onChange={(value) => set('totals', value)}
                options={totals.map((value) => ({ value, label: t(`make.builder.totals.${value}`) }))}
              />
            )}
          </Field>
          <Field label={t('make.builder.mask')}>
            {(id) => (
              <Select
                id={id}
                aria-label={t('make.builder.mask')}
                allowClear
                placeholder={t('make.builder.no_mask')}
                value={settings.mask as string | undefined}
                onChange={(value) => set('mask', value)}
                options={MASKS.map((value) => ({ value, label: t(`make.builder.masks.${value}`) }))}
              />
            )}
          </Field>
          {isMasked && (
            <p id={maskHint} className="builder-wide builder-hint" role="status">
              {t('make.builder.mask_hint')}
            </p>
          )}
          <div className="builder-wide builder-checks">
            <Checkbox
              checked={settings.bold === true}
              onChange={({ target }) => set('bold', target.checked || undefined)}
            >
              {t('make.builder.bold')}
            </Checkbox>
            <Checkbox
              checked={settings.wrap !== false}
              onChange={({ target }) => set('wrap', target.checked ? undefined : false)}
            >
              {t('make.builder.wrap')}
            </Checkbox>
          </div>
          <ConditionList
            value={settings.condition_style}
            onChange={(value) => set('condition_style', value)}
          />
        </>
      )}
    </section>
  )
}
