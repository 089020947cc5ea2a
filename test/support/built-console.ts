import { buildConsole } from '../../scripts/build-console.mjs'

/** Once for all tests, and before any: two that find it old must not build it both at once. */
export default function builtConsole(): void {
  buildConsole()
}
