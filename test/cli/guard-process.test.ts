import { once } from 'node:events'
import { expect, test } from 'vitest'
import { spawnBound } from '../support/bound-process.ts'
import { until } from '../support/until.ts'
import { serveWharf, unforeseenIn } from '../support/wharf-process.ts'

/** A server with a fault that a signal sets off. */
async function faulty(fault: string) {
  const module = `process.on('SIGUSR2', () => { ${fault} })`
  const NODE_OPTIONS = `--import="data:text/javascript,${encodeURIComponent(module)}"`
  return serveWharf({ NODE_OPTIONS }, [], { mayFail: true })
}

test('a rejection that nobody handles is told with its stack and counted, and the server goes on', async () => {
  const { child, address, output } = await faulty("Promise.reject(new Error('nobody cared'))")
  child.kill('SIGUSR2')
  await until('it is told', () => /"unforeseen":1.*\n/.test(output.out))
  const line = JSON.parse(output.out.split('\n').find((text) => text.includes('"unforeseen"')) ?? '{}')
  expect(line).toMatchObject({
    level: 50,
    err: { stack: expect.stringContaining('Error: nobody cared\n    at') },
  })
  const metrics = await (await fetch(`${address}/metrics`)).text()
  expect(metrics).toMatch(/^wharf_unforeseen_errors_total 1$/m)
  expect((await fetch(`${address}/readyz`)).status).toBe(200)
})

test('an exception that nobody caught is told, and the server drains and ends with 1', async () => {
  const { child, exited, output, dataDir } = await faulty("throw new Error('nobody caught')")
  child.kill('SIGUSR2')
  expect(await exited).toEqual({ code: 1, signal: null })
  expect(output.out).toContain('Error: nobody caught\\n    at')
  // It closed its ledger: a next start is let in at once.
  await serveWharf({ WHARF_DATA_DIR: dataDir })
})

test.each([
  { what: 'a second such exception does not wait for the drain', withinMs: 3_600_000, exceptions: 2 },
  { what: 'a drain that takes too long is not waited for', withinMs: 1, exceptions: 1 },
])('$what', async ({ withinMs, exceptions }) => {
  const guard = new URL('../../src/cli/terminal/guard-process.ts', import.meta.url)
  const kernel = new URL('../../src/kernel/index.ts', import.meta.url)
  const child = spawnBound(process.execPath, [
    '--input-type=module',
    '-e',
    `import { guardProcess } from '${guard}'
     import { createLog } from '${kernel}'
     const endless = () => new Promise(() => console.log('drains'))
     guardProcess(createLog({ level: 'warn' })).drainBy(endless, { withinMs: ${withinMs} })
     for (let one = 0; one < ${exceptions}; one++) setImmediate(() => { throw new Error('again') })`,
  ])
  let output = ''
  child.stdout?.on('data', (text) => (output += text))
  const [code] = await once(child, 'close')
  expect(code).toBe(1)
  expect(output.match(/drains/g)).toHaveLength(1)
  expect(unforeseenIn(output)).toHaveLength(exceptions)
})
