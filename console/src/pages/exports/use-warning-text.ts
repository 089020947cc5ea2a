import { useTranslation } from 'react-i18next'
import { readWarning } from '../../api/export-texts.ts'
import { useFormat } from '../../parts/text/format.ts'

/** A warning of the server in the language of the page, where it is of a kind that is known. */
export function useWarningText(): (warning: string) => string {
  const { t } = useTranslation()
  const format = useFormat()
  return (warning) => {
    const read = readWarning(warning)
    if (!read) return warning
    const { kind, type: name, ...values } = read
    const type = name && t(`make.builder.types.${name as 'auto'}`, { defaultValue: name }).toLowerCase()
    return t(`exports.warning.${kind}`, { ...values, type, shown: format.number(values.count) })
  }
}
