import { existsSync, readFileSync } from 'node:fs'
import { writeFileSync } from './files.ts'

export function readSecret(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

export function keepSecret(file: string, secret: string): void {
  writeFileSync(file, `${secret}\n`)
}
