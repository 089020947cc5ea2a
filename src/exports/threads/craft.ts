/**
 * Something that threads can do: a module whose `work` export takes a task and returns what it made of it. The module is
 * loaded by the threads alone, on first use, and may keep buffers from task to task.
 */
export interface Craft<Task, Result> {
  /** Address of the module. */
  readonly module: string
  /** Never there: it ties the two types to the craft. */
  readonly types?: (task: Task) => Result
}

/** What `work` returns: the result, and the memory that goes with it instead of being copied. */
export interface Made<Result> {
  result: Result
  transfer?: ArrayBuffer[]
}

export interface CraftModule {
  work(task: unknown): Made<unknown> | Promise<Made<unknown>>
}

/** The craft of the module `name` beside the module `from`; compiled sources stand beside each other like the originals. */
export function craft<Task, Result>(from: string, name: string): Craft<Task, Result> {
  return { module: new URL(`./${name}${from.slice(from.lastIndexOf('.'))}`, from).href }
}
