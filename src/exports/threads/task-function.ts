/**
 * Something that threads can do: a function that a module exports, which takes a task and returns what it made of it. The
 * module is loaded by the threads alone, on first use, and may keep buffers from task to task.
 */
export interface TaskFunction<Task, Result> {
  /** Address of the module. */
  readonly module: string
  /** Name of the function. */
  readonly name: string
  /** Never there: it ties the two types to the taskFunction. */
  readonly types?: (task: Task) => Result
}

/** What such a function returns: the result, and the memory that goes with it instead of being copied. */
export interface Made<Result> {
  result: Result
  transfer?: ArrayBuffer[]
}

export type TaskModule = Record<string, (task: unknown) => Made<unknown> | Promise<Made<unknown>>>

/** A function of the module `file`, which is beside the module `from`. */
export function taskFunction<Task, Result>(
  from: string,
  file: string,
  name: string,
): TaskFunction<Task, Result> {
  return { module: neighbour(from, file).href, name }
}

/** Compiled sources (`.js`) are beside each other, as the originals are. */
export function neighbour(from: string, file: string): URL {
  return new URL(`./${file}${from.slice(from.lastIndexOf('.'))}`, from)
}
