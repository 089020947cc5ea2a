import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Files {
  folder: string
  /** The spool, its index, and the sheet's XML as our plain workbook holds it. */
  spool: string
  index: string
  xml: string
}

export interface Contestant {
  name: string
  /** null: this machine lacks something, and `lacks` says what. */
  command(files: Files, target: string): [command: string, ...args: string[]] | null
  lacks?: string
}

const here = (name: string) => fileURLToPath(new URL(`./${name}`, import.meta.url))
const node = (script: string, ...args: string[]): [string, ...string[]] => [
  process.execPath,
  here(script),
  ...args,
]

export const PLAIN: Contestant = {
  name: 'wharf, plain',
  command: ({ index }, target) => node('ours.mjs', index, target, 'plain'),
}
export const STYLED: Contestant = {
  name: 'wharf, styled',
  command: ({ index }, target) => node('ours.mjs', index, target, 'styled'),
}
export const PEERS: Contestant[] = [
  {
    name: 'pigz -1, same XML',
    command: ({ xml }, target) =>
      spawnSync('pigz', ['--version']).status === 0
        ? ['sh', '-c', 'exec pigz -1 -c "$1" > "$2"', 'sh', xml, target]
        : null,
    lacks: 'pigz',
  },
  {
    name: '@sheetkit (Rust)',
    command: ({ spool }, target) =>
      isInstalled('@sheetkit/node-linux-x64-gnu') ? node('peer-sheetkit.ts', spool, target) : null,
    lacks: '@sheetkit (npm install --no-save @sheetkit/node-linux-x64-gnu)',
  },
  {
    name: 'libxlsxwriter (C)',
    command: ({ spool, folder }, target) => {
      const program = join(folder, 'peer-libxlsxwriter')
      if (!existsSync(program)) {
        const built = spawnSync('cc', ['-O2', '-o', program, here('peer-libxlsxwriter.c'), '-lxlsxwriter'])
        if (built.status !== 0) return null
      }
      return [program, spool, target]
    },
    lacks: 'cc and libxlsxwriter-dev',
  },
  { name: 'exceljs, streaming', command: ({ spool }, target) => node('peer-exceljs.ts', spool, target) },
  { name: 'hucre, streaming', command: ({ spool }, target) => node('peer-hucre.ts', spool, target) },
  {
    name: 'SheetJS',
    command: ({ spool }, target) => [
      process.execPath,
      '--max-old-space-size=8192',
      here('peer-sheetjs.ts'),
      spool,
      target,
    ],
  },
  {
    name: 'XlsxWriter (Python)',
    command: ({ spool }, target) => {
      const python = ['python3', '/usr/bin/python3'].find(
        (name) => spawnSync(name, ['-c', 'import xlsxwriter']).status === 0,
      )
      return python === undefined ? null : [python, here('peer-xlsxwriter.py'), spool, target]
    },
    lacks: "Python's XlsxWriter",
  },
]

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}
