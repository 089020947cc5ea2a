import {
  type CSSProperties,
  memo,
  type ReactNode,
  startTransition,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useKeptPlace } from './kept-place.ts'
import { Check, type Selection, TickAll } from './selection.tsx'
import './window-table.css'

export interface WindowColumn<T> {
  key: string
  title: string
  /** Pixels; without it the column shares what is left. */
  width?: number
  align?: 'right'
  /** On a phone: where in the card it is, or that it is not. */
  phone?: 'title' | 'status' | 'line' | 'only' | 'actions' | 'hidden'
  /** The name by which the list can be sorted. */
  sort?: string
  /** Costs more to draw than words do: a row that comes by while the list moves does without it. */
  late?: boolean
  draw(row: T): ReactNode
}

interface Props<T> {
  label: string
  columns: readonly WindowColumn<T>[]
  /** How many rows there are, as far as is known. */
  count: number
  /** Undefined: not loaded yet. */
  rowAt(index: number): T | undefined
  rowKey(row: T): string
  /** The list is another one when this changes: it begins at its top. */
  identity: string
  busy: boolean
  /** There are no rows after those that are known. */
  ended: boolean
  onView(first: number, last: number): void
  /** On paper there are the rows that are drawn: which these are. */
  printed(first: number, last: number): string
  sort: string
  onSort(next: string): void
  selection?: Selection<T> | undefined
}

const ROW = 34
const CARD = 108
/** Rows beyond what is seen, so that a fast hand does not outrun the page. */
const MORE = 16
/** Drawn anew only when the view has moved by so many. */
const STEP = 12
/** Without a scroll for so long the list stands still. */
const REST_MS = 100
const PHONE = 'screen and (max-width: 760px)'

/** A table of any length: it draws the rows in view, and its header stays. On a phone each row is a card. */
export function WindowTable<T>(props: Props<T>) {
  const { label, count, rowAt, rowKey, identity, busy, ended, onView, printed, sort, onSort, selection } =
    props
  const area = useRef<HTMLDivElement>(null)
  const isPhone = usePhone()
  const height = isPhone ? CARD : ROW
  const columns = useMemo(
    () => (isPhone ? props.columns : props.columns.filter(({ phone }) => phone !== 'only')),
    [props.columns, isPhone],
  )
  const [[first, last], setRange] = useState([0, 40])
  const measure = () => {
    const { scrollTop = 0, clientHeight = 0 } = area.current ?? {}
    const top = Math.max(0, Math.floor(scrollTop / height / STEP) * STEP - MORE)
    const bottom = Math.ceil((scrollTop + clientHeight) / height / STEP) * STEP + MORE
    setRange((now) => (now[0] === top && now[1] === bottom ? now : [top, bottom]))
  }
  const place = useKeptPlace(area, {
    height,
    count,
    busy,
    ended,
    keyAt: (index) => {
      const row = rowAt(index)
      return row && rowKey(row)
    },
  })
  const [isResting, onScroll] = useRest(place.keep)
  const latest = useRef(measure)
  latest.current = measure
  useEffect(() => {
    const watch = new ResizeObserver(() => latest.current())
    if (area.current) watch.observe(area.current)
    return () => watch.disconnect()
  }, [])
  useEffect(() => {
    if (!place.isWanted()) area.current?.scrollTo({ top: 0 })
    latest.current()
  }, [identity, height])
  // Rows are drawn anew only when they themselves change, so they ask for what is selected by now.
  const selecting = useRef(selection)
  selecting.current = selection
  const select = useRef({
    labelOf: (row: T) => selecting.current?.labelOf(row) ?? '',
    toggle: (key: string, on: boolean) => selecting.current?.toggle(key, on),
  })
  const end = Math.min(count, last)
  const begin = Math.min(first, end)
  useEffect(() => onView(begin, Math.max(begin, end - 1)))
  const indexes = Array.from({ length: end - begin }, (_, at) => begin + at)
  // Rows that are complete stay so when the list begins to move.
  const wholeBefore = useRef<ReadonlySet<string>>(new Set())
  const whole = new Set<string>()
  const isWhole = (id: string) => {
    if (isResting || wholeBefore.current.has(id)) whole.add(id)
    return whole.has(id)
  }
  useEffect(() => {
    wholeBefore.current = whole
  })
  const scrolled = () => {
    onScroll()
    measure()
  }
  return (
    <div className="window-table" ref={area} onScroll={scrolled}>
      <p className="print-only quiet">{printed(begin + 1, end)}</p>
      <table aria-label={label} aria-busy={busy} aria-rowcount={count + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {selection && (
              <th scope="col" className="window-table-check">
                <TickAll selection={selection} />
              </th>
            )}
            {columns.map((column) => (
              <HeadCell key={column.key} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap rows={begin} height={height} />
          {indexes.map((index) => {
            const row = rowAt(index)
            if (!row)
              return (
                <tr key={index} className="window-table-empty" aria-rowindex={index + 2} style={{ height }} />
              )
            const id = rowKey(row)
            return (
              <Row
                key={id}
                row={row as never}
                id={id}
                index={index}
                columns={columns as never}
                whole={isWhole(id)}
                select={selection && (select.current as never)}
                selected={selection?.has(id) ?? false}
              />
            )
          })}
          <Gap rows={count - end} height={height} />
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  row: never
  id: string
  index: number
  columns: readonly WindowColumn<never>[]
  whole: boolean
  select: Pick<Selection<never>, 'labelOf' | 'toggle'> | undefined
  selected: boolean
}

const Row = memo(function Row({ row, id, index, columns, whole, select, selected }: RowProps) {
  return (
    <tr data-row={id} aria-rowindex={index + 2} data-selected={selected}>
      {select && (
        <td className="window-table-check">
          <Check label={select.labelOf(row)} on={selected} onChange={(on) => select.toggle(id, on)} />
        </td>
      )}
      {columns.map(({ key, align, phone = 'line', late = false, draw }) => (
        <td key={key} data-align={align} data-phone={phone}>
          {(whole || !late) && draw(row)}
        </td>
      ))}
    </tr>
  )
})

function HeadCell<T>({
  column: { title, width, align, sort: name },
  sort,
  onSort,
}: {
  column: WindowColumn<T>
  sort: string
  onSort(next: string): void
}) {
  const style: CSSProperties | undefined = width === undefined ? undefined : { width }
  if (name === undefined)
    return (
      <th scope="col" data-align={align} style={style}>
        {title}
      </th>
    )
  const order = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none'
  return (
    <th scope="col" data-align={align} style={style} aria-sort={order}>
      <button type="button" onClick={() => onSort(order === 'descending' ? name : `-${name}`)}>
        {title}
        <span aria-hidden="true" data-order={order} />
      </button>
    </th>
  )
}

/** Stands for rows that are not drawn. */
function Gap({ rows, height }: { rows: number; height: number }) {
  if (rows <= 0) return null
  return <tr className="window-table-gap" style={{ height: rows * height }} />
}

/** Whether nothing scrolls, and what a scroll calls. */
function useRest(onRest: () => void): [boolean, () => void] {
  const [isResting, setResting] = useState(true)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const onScroll = () => {
    setResting(false)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      onRest()
      startTransition(() => setResting(true))
    }, REST_MS)
  }
  return [isResting, onScroll]
}

function usePhone(): boolean {
  const [is, setIs] = useState(() => window.matchMedia(PHONE).matches)
  useEffect(() => {
    const media = window.matchMedia(PHONE)
    const change = () => setIs(media.matches)
    media.addEventListener('change', change)
    return () => media.removeEventListener('change', change)
  }, [])
  return is
}
