import type {
  CellStyle,
  CellType,
  DataColumn,
  FixedCell,
  SheetPlan,
} from '../../../src/exports/sheet/index.ts'
import { FIELDS } from './rows.ts'

/** One row of titles, no styles, types as found. */
export function plainPlan(): SheetPlan {
  return {
    name: 'Orders',
    columns: FIELDS.map((_, field) => ({ field, type: 'auto', style: {}, conditions: [] })),
    top: { rows: 1, heights: [], cells: FIELDS.map((title, column) => cell(0, column, title, {})) },
    bottom: { rows: 0, heights: [], cells: [] },
  }
}

/** Three levels of headers, number formats, centred cells, conditions on two columns. */
export function styledPlan(): SheetPlan {
  const head: CellStyle = { bold: true, align: 'center', vAlign: 'middle', bgColor: 'D9D9D9' }
  const types: CellType[] = [
    'integer',
    'string',
    'string',
    'date',
    'money',
    'money',
    'percent',
    'string',
    'string',
    'string',
  ]
  const columns = types.map((type, field): DataColumn => {
    return { field, type, style: { align: 'center', vAlign: 'middle' }, conditions: [] }
  })
  columns[4]!.conditions = [
    { when: { op: '>=', value: 90_000 }, style: { color: 'FF0000', bold: true } },
    { when: { op: '<', value: 1_000 }, style: { bgColor: 'FFFF00' } },
  ]
  columns[7]!.conditions = [
    { when: { op: 'in', values: ['refunded', 'cancelled'] }, style: { color: '0000FF' } },
    { when: { op: '=', value: 'pending' }, style: { bgColor: 'EEEEEE' } },
  ]
  return {
    name: 'Orders',
    columns,
    top: {
      rows: 4,
      heights: [30],
      cells: [
        cell(0, 0, 'Orders', { ...head, size: 16 }, 1, 10),
        cell(1, 0, 'Order', head, 1, 4),
        cell(1, 4, 'Money', head, 1, 3),
        cell(1, 7, 'Rest', head, 1, 3),
        cell(2, 0, 'Key', head, 1, 2),
        cell(2, 2, 'Who and when', head, 1, 2),
        cell(2, 4, 'Sums', head, 1, 2),
        cell(2, 6, 'Share', head),
        cell(2, 7, 'State', head),
        cell(2, 8, 'Contact', head, 1, 2),
        ...FIELDS.map((title, column) => cell(3, column, title, head)),
      ],
    },
    bottom: { rows: 0, heights: [], cells: [] },
  }
}

function cell(
  row: number,
  column: number,
  value: string,
  style: CellStyle,
  rowSpan = 1,
  columnSpan = 1,
): FixedCell {
  return { row, column, rowSpan, columnSpan, value, style }
}
