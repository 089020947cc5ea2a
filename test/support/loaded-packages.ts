// Preloaded into a process under test: at its end it writes which packages it has loaded to the file LOADED_PACKAGES.
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const packages = new Set<string>()
registerHooks({
  load(url, context, next) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
    if (name) packages.add(name)
    return next(url, context)
  },
})
process.on('exit', () => {
  const file = process.env.LOADED_PACKAGES
  if (file) writeFileSync(file, JSON.stringify([...packages]))
})
