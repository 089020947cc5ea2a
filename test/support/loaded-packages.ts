// Preloaded into a process under test: at its end it writes which packages it has loaded to the file LOADED_PACKAGES, and
// 'wharf:otlp' if it has loaded what sends traces.
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const packages = new Set<string>()
registerHooks({
  load(url, context, next) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
    if (name) packages.add(name)
    if (url.includes('/src/net/otlp/')) packages.add('wharf:otlp')
    return next(url, context)
  },
})
process.on('exit', () => {
  const file = process.env.LOADED_PACKAGES
  if (file) writeFileSync(file, JSON.stringify([...packages]))
})
