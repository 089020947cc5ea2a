/** All names that the server has for something, in the order given: one that is missing here, or that it does not have, does not compile. */
export function everyName<T extends string>(names: Record<T, true>): readonly T[] {
  return Object.keys(names) as T[]
}
