import { KeyTable } from '../json/index.ts'

/** Deeper names are keys like any other. */
const MAX_DEPTH = 16
/** A place in a list; counted from its end below zero. */
const PLACE = /^(?:0|-?[1-9]\d{0,8})$/

/**
 * Keys of an object, or places in a list, whose values, or values inside of them, are wanted by a dotted name such as
 * `customer.address.city`, `phones.0` or `phones.-1.number`.
 */
export class NestedPaths {
  readonly keys = new KeyTable([])
  /** By the key's index: the slot of its value, below zero for none. */
  readonly slotOf: number[] = []
  /** By the key's index: what is wanted inside of its value. */
  readonly below: (NestedPaths | undefined)[] = []
  /** By place in a list: the index of the key that is written like it. Places below zero count from the list's end. */
  readonly indexOfPlace = new Map<number, number>()
  /** A place is counted from the end. */
  countsBack = false
  readonly #indexOf = new Map<string, number>()

  add([key, ...rest]: readonly string[], slot: number): void {
    const index = this.#indexOf.get(key!) ?? this.keys.add(key!)
    this.#indexOf.set(key!, index)
    if (PLACE.test(key!)) {
      this.indexOfPlace.set(Number(key), index)
      this.countsBack ||= key!.startsWith('-')
    }
    this.slotOf[index] ??= -1
    if (rest.length === 0) {
      this.slotOf[index] = slot
      return
    }
    const paths = this.below[index] ?? new NestedPaths()
    this.below[index] = paths
    paths.add(rest, slot)
  }

  /** How often one byte of a value may be written: once for each wanted value that it is a part of. */
  get overlap(): number {
    const all = this.slotOf.map((slot, index) => (slot < 0 ? 0 : 1) + (this.below[index]?.overlap ?? 0))
    const mostOf = (isMeant: (place: number) => boolean) =>
      Math.max(0, ...[...this.indexOfPlace].map(([place, index]) => (isMeant(place) ? all[index]! : 0)))
    // An item of a list has two places: counted from either end.
    return Math.max(0, ...all, mostOf((place) => place >= 0) + mostOf((place) => place < 0))
  }
}

/** The keys on the way to a value, or nothing for a name that is no path. */
export function pathOf(name: string): string[] | undefined {
  const path = name.split('.')
  return path.length < 2 || path.length > MAX_DEPTH || path.includes('') ? undefined : path
}

/** The value of a key, or else inside of an object or a list by a dotted name. */
export function valueByName(row: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(row, name)) return row[name]
  return pathOf(name)?.reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return PLACE.test(key) ? value.at(Number(key)) : undefined
    return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? (value as Record<string, unknown>)[key]
      : undefined
  }, row)
}
