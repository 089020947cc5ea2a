/** One entry of the table in `registry.ts`: what a benchmark's module exports. */
export interface Benchmark {
  /** One line for `--help`. */
  description: string
  /** Prints its tables; answers false if a bar that it checks was missed. */
  run(args: readonly string[]): Promise<boolean>
}
