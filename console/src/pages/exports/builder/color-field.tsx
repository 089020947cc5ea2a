import { CloseOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { useTranslation } from 'react-i18next'

/** Names that a template may have for them. */
const NAMED: Readonly<Record<string, string>> = {
  black: '#000000',
  white: '#ffffff',
  red: '#ff0000',
  green: '#008000',
  blue: '#0000ff',
  yellow: '#ffff00',
  cyan: '#00ffff',
}
const GREY = '#f2f2f2'

/** A colour, or none. The browser's own choice of colours. */
export function ColorField({
  id,
  label,
  value,
  onChange,
}: {
  id?: string
  label?: string
  value: unknown
  onChange(value: string | undefined): void
}) {
  const { t } = useTranslation()
  const isSet = value !== undefined && value !== false && value !== ''
  return (
    <span className="builder-color" data-set={isSet}>
      <input
        id={id}
        type="color"
        aria-label={label}
        value={hexOf(value)}
        onChange={({ target }) => onChange(target.value.slice(1).toUpperCase())}
      />
      {isSet ? (
        <Button
          type="text"
          size="small"
          icon={<CloseOutlined />}
          aria-label={t('make.builder.no_color')}
          onClick={() => onChange(undefined)}
        />
      ) : (
        <span className="quiet">{t('make.builder.unset')}</span>
      )}
    </span>
  )
}

function hexOf(value: unknown): string {
  if (value === true) return GREY
  if (typeof value !== 'string') return '#000000'
  const named = NAMED[value.toLowerCase()]
  if (named !== undefined) return named
  const digits = value.replace('#', '')
  const long = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits
  return /^[0-9a-f]{6}$/i.test(long) ? `#${long.toLowerCase()}` : '#000000'
}
