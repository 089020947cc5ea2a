import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { NURSERY } from './pipeline/watch-process.ts'
import { benchPipeline } from './pipeline.ts'
import { benchServed } from './served.ts'

export const description = 'exports: pages to spool, workbooks beside other writers, and the whole pipeline'

/** False if a bar was missed. */
export async function run(args: readonly string[]): Promise<boolean> {
  const quick = args.includes('--quick')
  if (args.includes('--only=extras')) return benchPipeline({ quick, only: 'extras' })
  const deflated = await part('deflate.ts')
  if (args.includes('--only=deflate')) return deflated
  const keyed = await part('keys.ts', ...(quick ? ['5000000'] : []))
  const fetched = await part('fetch.ts')
  const written = await part('xlsx.ts', ...(quick ? ['200000'] : []))
  const piped = await benchPipeline({ quick })
  return (await benchServed({ quick })) && piped && fetched && written && keyed && deflated
}

/** In a process of its own: what one part leaves in memory must not weigh on the next. */
async function part(script: string, ...args: string[]): Promise<boolean> {
  console.log(`\n### ${script.replace('.ts', '')}`)
  const file = fileURLToPath(new URL(`./${script}`, import.meta.url))
  const child = spawn(process.execPath, [...NURSERY, file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let missed = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text)
    missed ||= /\bMISSED\b|\bFAIL\b/.test(text)
  })
  const [code] = await once(child, 'close')
  return code === 0 && !missed
}
