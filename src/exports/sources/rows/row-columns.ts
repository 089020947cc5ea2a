import { KeyTable, withOneMore } from '../json/index.ts'
import { NestedPaths, pathOf } from './nested-paths.ts'

/** Key of a flat row that names the row header it belongs to. */
export const ROW_HEAD = '_row_head_'

/** Which keys of a row are wanted, each with a slot for its value, and which slot each column shows. */
export class RowColumns {
  /** The columns: null is one that stays empty. */
  readonly fields: (string | null)[]
  /** Keys that rows have and no column shows. */
  readonly unwanted: string[] = []
  slots: number
  /** By column; may be longer than there are columns. */
  slotOf: Int32Array
  /** A row's keys. */
  readonly keys: KeyTable
  /** By the key's index: its slot, or -1 for one that no column shows. */
  readonly slotOfKey: number[]
  /** Of the value that names the row header, or -1. */
  readonly headSlot: number
  /** The row headers, looked up by what is between the quotes of a typed record. */
  readonly heads: KeyTable | undefined
  /** Values can be written as they come when keys come in this order: each column has a slot of its own. */
  readonly inOrder: boolean
  /** By slot: which of the key columns its value is, or -1. Null: rows are not compared. */
  keyOf: Int32Array | null = null
  /** By the key's index: what is wanted inside of its value. */
  readonly below: (NestedPaths | undefined)[] = []

  /** A field that is null has a slot that no key fills. `grows`: every key is a field, so no name is a path. */
  constructor(
    fields: readonly (string | null)[],
    rowNames: readonly string[] | undefined,
    { grows }: { grows: boolean },
  ) {
    const names: (string | null)[] = []
    const known = new Map<string, number>()
    const slotOf = (name: string | null) => {
      const slot = (name === null ? undefined : known.get(name)) ?? names.push(name) - 1
      if (name !== null) known.set(name, slot)
      return slot
    }
    this.fields = [...fields]
    this.slotOf = Int32Array.from(fields, slotOf)
    this.headSlot = rowNames ? slotOf(ROW_HEAD) : -1
    this.slots = names.length
    this.keys = new KeyTable(names)
    this.slotOfKey = names.map((_, slot) => slot)
    this.heads = rowNames && new KeyTable(rowNames.map((name) => name.replaceAll('"', '""')))
    this.inOrder = !rowNames && this.slotOf.every((slot, column) => slot === column)
    if (!grows) for (const [name, slot] of known) this.#addPath(name, slot)
  }

  /** How often one byte of a row may be written. */
  get overlap(): number {
    return 1 + this.below.reduce((most, paths) => Math.max(most, paths?.overlap ?? 0), 0)
  }

  get count(): number {
    return this.fields.length
  }

  /** Columns that identify a row. One that no column shows, and none is to, is known by the slot `-2 - index`. */
  identify(key: readonly string[], { grows }: { grows: boolean }): void {
    const slotOf = new Map(this.fields.map((name, column) => [name, this.slotOf[column]!]))
    this.keyOf = new Int32Array(this.slots).fill(-1)
    for (const [index, name] of key.entries()) {
      const slot = slotOf.get(name)
      if (slot !== undefined) this.keyOf[slot] = index
      else if (!grows) {
        this.slotOfKey[this.keys.add(name)] = -2 - index
        this.#addPath(name, -2 - index)
      }
    }
  }

  /** A name such as `customer.city` also names a value inside an object. */
  #addPath(name: string, slot: number): void {
    const [first, ...rest] = pathOf(name) ?? []
    if (first === undefined) return
    const bytes = Buffer.from(first)
    let index = this.keys.find(bytes, 0, bytes.length)
    if (index < 0) {
      index = this.keys.add(first)
      this.slotOfKey[index] = -1
    }
    const paths = this.below[index] ?? new NestedPaths()
    this.below[index] = paths
    paths.add(rest, slot)
  }

  /** One more column, for a key that is not known. Returns its slot. */
  add(name: string): number {
    const slot = this.slots++
    this.slotOf = withOneMore(this.slotOf, this.count, slot)
    this.slotOfKey[this.keys.add(name)] = slot
    this.fields.push(name)
    return slot
  }

  /** A key that is not known, and that no column is to show. */
  leaveOut(name: string): void {
    this.slotOfKey[this.keys.add(name)] = -1
    this.unwanted.push(name)
  }
}
