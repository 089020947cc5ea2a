import { DeleteOutlined, PlusOutlined } from '@ant-design/icons'
import { Button, Checkbox, Input, Select } from 'antd'
import { useTranslation } from 'react-i18next'
import { ColorField } from './color-field.tsx'
import { OPERATORS, type Operator, readCondition, writeCondition } from './condition-text.ts'
import { withSetting } from './edit-tree.ts'
import type { Settings } from './template-tree.ts'

const MOST = 64
const NEW: Settings = { condition: '< 0', color: 'C00000' }

/** Colours by value. The first condition that holds gives the look. */
export function ConditionList({ value, onChange }: { value: unknown; onChange(value: unknown): void }) {
  const { t } = useTranslation()
  const rules = (Array.isArray(value) ? value : value === undefined ? [] : [value]) as Settings[]
  const set = (next: readonly Settings[]) => onChange(next.length === 0 ? undefined : next)
  return (
    <div className="builder-wide">
      <span className="make-label">{t('make.builder.conditions')}</span>
      {rules.map((rule, index) => (
        <Rule
          key={index}
          rule={rule}
          number={index + 1}
          onChange={(next) => set(rules.with(index, next))}
          onRemove={() => set(rules.toSpliced(index, 1))}
        />
      ))}
      <Button
        type="dashed"
        size="small"
        icon={<PlusOutlined />}
        disabled={rules.length >= MOST}
        onClick={() => set([...rules, NEW])}
      >
        {t('make.builder.add_condition')}
      </Button>
    </div>
  )
}

function Rule({
  rule,
  number,
  onChange,
  onRemove,
}: {
  rule: Settings
  number: number
  onChange(rule: Settings): void
  onRemove(): void
}) {
  const { t } = useTranslation()
  const text = String(rule.condition ?? '')
  const simple = readCondition(text)
  const set = (name: string, value: unknown) => onChange(withSetting(rule, name, value))
  const say = (operator: Operator, value: string) => set('condition', writeCondition({ operator, value }))
  return (
    <div className="builder-rule">
      {simple ? (
        <>
          <Select
            aria-label={t('make.builder.operator', { number })}
            value={simple.operator}
            onChange={(operator) => say(operator, simple.value)}
            options={OPERATORS.map((value) => ({ value, label: t(`make.builder.operators.${value}`) }))}
          />
          {simple.operator !== 'empty' && (
            <Input
              aria-label={t('make.builder.compared', { number })}
              value={simple.value}
              onChange={({ target }) => say(simple.operator, target.value)}
            />
          )}
        </>
      ) : (
        <Input
          className="mono builder-rule-text"
          aria-label={t('make.builder.condition', { number })}
          value={text}
          onChange={({ target }) => set('condition', target.value)}
        />
      )}
      <ColorField
        label={t('make.builder.color')}
        value={rule.color}
        onChange={(value) => set('color', value)}
      />
      <ColorField
        label={t('make.builder.fill')}
        value={rule.bg_color}
        onChange={(value) => set('bg_color', value)}
      />
      <Checkbox
        checked={rule.bold === true}
        onChange={({ target }) => set('bold', target.checked || undefined)}
      >
        {t('make.builder.bold_short')}
      </Checkbox>
      <Button
        type="text"
        size="small"
        icon={<DeleteOutlined />}
        aria-label={t('make.remove', { what: `${t('make.builder.rule')} ${number}` })}
        onClick={onRemove}
      />
    </div>
  )
}
