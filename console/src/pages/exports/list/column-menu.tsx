import { ControlOutlined } from '@ant-design/icons'
import { Button, Popover } from 'antd'
import { useTranslation } from 'react-i18next'
import { CHOICES, type Choice } from './columns.tsx'

interface Props {
  wide: boolean
  chosen: readonly Choice[]
  onChange(next: readonly Choice[]): void
}

/** Which columns the list has; remembered by the caller. */
export function ColumnMenu({ wide, chosen, onChange }: Props) {
  const { t } = useTranslation()
  const toggle = (key: Choice, on: boolean) =>
    onChange(CHOICES.filter((one) => (one === key ? on : chosen.includes(one))))
  return (
    <Popover
      trigger="click"
      placement="bottomRight"
      content={
        <fieldset className="column-choice">
          <legend>{t('lists.columns')}</legend>
          {CHOICES.filter((key) => key !== 'project' || wide).map((key) => (
            <label key={key}>
              <input
                type="checkbox"
                checked={chosen.includes(key)}
                onChange={({ target }) => toggle(key, target.checked)}
              />
              {t(`lists.column.${key}`)}
            </label>
          ))}
        </fieldset>
      }
    >
      <Button icon={<ControlOutlined />} aria-label={t('lists.columns')} />
    </Popover>
  )
}
