import { templateError } from '../../condition/index.ts'
import type { CellStyle } from '../../sheet/index.ts'
import { COLOR_HELP, LIGHT_GREY, NO_FILL, parseColor } from '../color.ts'
import { type JsonObject, memberOf, memberPath, nameOf, textOf } from '../json-shape.ts'

export const ALIGN = ['left', 'center', 'right'] as const
export const V_ALIGN = ['top', 'middle', 'bottom'] as const

/** Colours and weight: what a node, a row header and a condition style have in common. */
export function paintOf(node: JsonObject, path: string): CellStyle {
  const style: CellStyle = {}
  const bold = flagOf(node, 'bold', path)
  if (bold !== undefined) style.bold = bold
  const color = colorOf(memberOf(node, 'color'), `${path}.color`)
  if (color) style.color = color
  const fill = memberOf(node, 'bg_color')
  const bgColor = fill === true ? LIGHT_GREY : fill === false ? NO_FILL : colorOf(fill, `${path}.bg_color`)
  if (bgColor) style.bgColor = bgColor
  return style
}

export function alignmentOf(node: JsonObject, path: string): CellStyle {
  return {
    align: choiceOf(memberOf(node, 'align'), ALIGN, `${path}.align`) ?? 'center',
    vAlign: choiceOf(memberOf(node, 'v-align'), V_ALIGN, `${path}.v-align`) ?? 'middle',
  }
}

export function choiceOf<T extends string>(
  value: unknown,
  choices: readonly T[],
  path: string,
): T | undefined {
  if (value === undefined) return undefined
  const choice = choices.find((known) => known === value)
  if (choice === undefined)
    throw templateError(path, `expected one of ${choices.join(', ')}, found ${nameOf(value)}`)
  return choice
}

/** A size above 0 and up to Excel's own limit; PHP often writes it as a text. */
export function sizeOf(node: JsonObject, key: string, max: number, path: string): number | undefined {
  const value = memberOf(node, key)
  if (value === undefined || value === '') return undefined
  const size = typeof value === 'string' ? Number(value) : value
  if (typeof size !== 'number' || !(size > 0 && size <= max)) {
    throw templateError(
      memberPath(path, key),
      `expected a number above 0 and up to ${max}, found ${nameOf(value)}`,
    )
  }
  return size
}

export function flagOf(node: JsonObject, key: string, path: string): boolean | undefined {
  const value = memberOf(node, key)
  if (value === undefined || typeof value === 'boolean') return value
  if (value === 0 || value === 1) return value === 1
  throw templateError(memberPath(path, key), `expected true or false, found ${nameOf(value)}`)
}

function colorOf(value: unknown, path: string): string | undefined {
  const text = textOf(value, path)
  if (text === undefined || text === '') return undefined
  const color = parseColor(text)
  if (!color) throw templateError(path, `expected a colour (${COLOR_HELP}), found ${nameOf(value)}`)
  return color
}
