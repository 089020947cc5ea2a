import { Select, type SelectProps } from 'antd'

const ZONES = Intl.supportedValuesOf('timeZone')
const OPTIONS = [...new Set(['UTC', ...ZONES])].map((value) => ({ value, label: value.replaceAll('_', ' ') }))

export const ownTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

export function TimeZoneSelect(props: SelectProps<string>) {
  return <Select showSearch allowClear placeholder="UTC" options={OPTIONS} {...props} />
}
