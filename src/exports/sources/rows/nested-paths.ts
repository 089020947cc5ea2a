import { KeyTable } from '../json/index.ts'

/** Deeper names are keys like any other. */
const MAX_DEPTH = 16

/** Keys of an object whose values, or values inside of them, are wanted by a dotted name such as `customer.address.city`. */
export class NestedPaths {
  readonly keys = new KeyTable([])
  /** By the key's index: the slot of its value, below zero for none. */
  readonly slotOf: number[] = []
  /** By the key's index: what is wanted inside of its value. */
  readonly below: (NestedPaths | undefined)[] = []
  readonly #indexOf = new Map<string, number>()

  add([key, ...rest]: readonly string[], slot: number): void {
    const index = this.#indexOf.get(key!) ?? this.keys.add(key!)
    this.#indexOf.set(key!, index)
    this.slotOf[index] ??= -1
    if (rest.length === 0) {
      this.slotOf[index] = slot
      return
    }
    const paths = this.below[index] ?? new NestedPaths()
    this.below[index] = paths
    paths.add(rest, slot)
  }

  /** How often one byte of an object may be written: once for each wanted value that it is a part of. */
  get overlap(): number {
    return Math.max(
      0,
      ...this.slotOf.map((slot, index) => (slot < 0 ? 0 : 1) + (this.below[index]?.overlap ?? 0)),
    )
  }
}

/** The keys on the way to a value, or nothing for a name that is no path. */
export function pathOf(name: string): string[] | undefined {
  const path = name.split('.')
  return path.length < 2 || path.length > MAX_DEPTH || path.includes('') ? undefined : path
}

/** The value of a key, or else inside of an object by a dotted name. */
export function valueByName(row: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(row, name)) return row[name]
  return pathOf(name)?.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    row,
  )
}
