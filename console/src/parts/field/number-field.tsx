import { Input } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../text/format.ts'
import { readNumber } from './read-number.ts'
import './number-field.css'

interface Props {
  id: string
  value: number | null
  least: number
  most?: number
  /** Places after the point that may be given. */
  places?: number
  unit?: string
  placeholder?: string
  disabled?: boolean
  /** Undefined: what stands there cannot be. */
  onChange(value: number | null | undefined): void
  onEnter?(): void
}

/** A number as it is typed: what cannot be is said below it, and nothing else is put in its place. */
export function NumberField(props: Props) {
  const { id, value, least, most, places = 0, unit, placeholder, disabled = false, onChange, onEnter } = props
  const { t } = useTranslation()
  const format = useFormat()
  const [text, setText] = useState(() => (value === null ? '' : format.number(value)))
  const read = (typed: string) => {
    const number = readNumber(typed)
    if (number === null || number === undefined) return number
    const isGood = number >= least && number <= (most ?? Number.MAX_SAFE_INTEGER)
    return isGood && Number(number.toFixed(places)) === number ? number : undefined
  }
  const isGood = read(text) !== undefined
  const kind = places === 0 ? 'whole' : 'number'
  return (
    <span className="number-field">
      <Input
        id={id}
        inputMode={places === 0 ? 'numeric' : 'decimal'}
        value={text}
        suffix={unit}
        placeholder={placeholder}
        disabled={disabled}
        status={isGood ? '' : 'error'}
        aria-invalid={!isGood}
        aria-describedby={isGood ? undefined : `${id}-wrong`}
        onChange={({ target }) => {
          setText(target.value)
          onChange(read(target.value))
        }}
        onPressEnter={() => isGood && onEnter?.()}
      />
      {!isGood && (
        <small id={`${id}-wrong`} role="alert">
          {most === undefined
            ? t(`common.field.${kind}`, { least })
            : t(`common.field.${kind}_to`, { least, most: format.number(most) })}
        </small>
      )}
    </span>
  )
}
