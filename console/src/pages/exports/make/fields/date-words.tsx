import { CalendarOutlined } from '@ant-design/icons'
import { Button, Dropdown, Form, Input, type InputProps } from 'antd'
import { useTranslation } from 'react-i18next'
import type { FieldName } from '../request/field-of-path.ts'

const WORDS = [
  'today',
  'yesterday',
  'last_week.start',
  'last_week.end',
  'this_month.start',
  'this_month',
  'last_month.start',
  'last_month.end',
  'last_month',
  'last_quarter.start',
  'last_quarter.end',
  'last_year',
] as const

/** A text into which dates can be put that are filled in when the export runs. */
export function DatedInput({ field, ...props }: InputProps & { field: FieldName }) {
  const { t } = useTranslation()
  const form = Form.useFormInstance()
  const put = (word: string) => {
    const input = document.getElementById(field.join('_')) as HTMLInputElement | null
    const text = String(form.getFieldValue(field) ?? '')
    const at = input?.selectionStart ?? text.length
    const next = `${text.slice(0, at)}{{${word}}}${text.slice(at)}`
    form.setFieldValue(field, next)
    // As if it had been typed: what listens to the form hears of it.
    props.onChange?.({ target: { value: next } } as never)
    input?.focus()
  }
  return (
    <Input
      {...props}
      suffix={
        <Dropdown
          trigger={['click']}
          menu={{
            items: WORDS.map((word) => ({
              key: word,
              label: t(`make.date.${word.replace('.', '_') as 'today'}`),
            })),
            onClick: ({ key }) => put(key),
          }}
        >
          <Button
            type="text"
            size="small"
            icon={<CalendarOutlined />}
            aria-label={t('make.date.insert')}
            title={t('make.date.insert')}
          />
        </Dropdown>
      }
    />
  )
}
