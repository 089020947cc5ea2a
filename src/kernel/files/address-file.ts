import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileSync } from './files.ts'

const fileIn = (dataDir: string) => join(dataDir, 'address')

/** Where a running server can be reached from this host, for commands on the same data dir: its port may be any. */
export function keepAddress(dataDir: string, address: string): void {
  writeFileSync(fileIn(dataDir), `${loopbackOf(address)}\n`)
}

/** Undefined when no server runs. One that was killed may have left its address. */
export function readAddress(dataDir: string): string | undefined {
  const file = fileIn(dataDir)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

export function forgetAddress(dataDir: string): void {
  rmSync(fileIn(dataDir), { force: true })
}

/** `0.0.0.0` is where a server listens, not where anybody can reach it. */
export function loopbackOf(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
