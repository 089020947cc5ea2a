import { readFileSync } from 'node:fs'

/** The one place that knows the version is package.json. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version
