import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { expect, test } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }

/** Prints what is loaded for the module that it is given. */
const LIST_LOADED = `
  const { registerHooks } = require('node:module')
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  import(process.argv[1]).then(() => console.log(JSON.stringify(loaded)))`

/** Those of the kernel, and those that a thread's work is done with. */
const PACKAGES = ['hyparquet-writer', 'lossless-json', 'numfmt', 'pino', 'prom-client']

const works = globSync('src/exports/**/*-work.ts')

test('there are modules for threads', () => {
  expect(works.length).toBeGreaterThan(5)
})

// A thread's start is part of every first export's time. The ledger and the schemas of requests were once loaded by each.
test.each(works)('%s loads nothing of a server', (work) => {
  const args = ['-e', LIST_LOADED, `${process.cwd()}/${work}`]
  const loaded = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as string[]
  const own = loaded.filter((url) => !url.includes('/node_modules/'))
  const folders = own.flatMap((url) => /\/src\/([a-z]+)\//.exec(url)?.[1] ?? [])
  expect(new Set(folders)).toEqual(new Set(['exports', 'kernel']))
  const packages = Object.keys(manifest.dependencies).filter((name) =>
    loaded.some((url) => url.includes(`/node_modules/${name}/`)),
  )
  expect(packages.filter((name) => !PACKAGES.includes(name))).toEqual([])
})
