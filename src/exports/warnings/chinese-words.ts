/** As the console names them. */
const TYPES: Readonly<Record<string, string>> = {
  auto: '自动',
  string: '文本',
  number: '数字',
  integer: '整数',
  money: '金额',
  percent: '百分比',
  date: '日期',
  datetime: '日期时间',
  boolean: '是/否',
  link: '链接',
}

const TOTALS: Readonly<Record<string, string>> = {
  sum: '合计',
  avg: '平均值',
  count: '计数',
  min: '最小值',
  max: '最大值',
}

export function typeName(type: string): string {
  return TYPES[type] ?? type
}

export function totalName(total: string): string {
  return TOTALS[total] ?? total
}

export function listed(names: readonly string[]): string {
  return names.join('、')
}

export function shown(count: number): string {
  return count.toLocaleString('zh-CN')
}
