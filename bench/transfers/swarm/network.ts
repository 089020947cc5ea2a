import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Where the contestants run: hosts with a line of a given speed each, or plain loopback where that is not allowed. */
export interface Network {
  readonly kind: 'namespaces' | 'loopback'
  address(host: number): string
  spawn(host: number, command: string, args: string[], options?: SpawnOptions): ChildProcess
  /** Bytes that left this host by its line, headers included; undefined where it cannot be separated. */
  sent(host: number): number | undefined
  setRate(host: number, megabits: number): void
  remove(): void
}

const HUB = 'wharf-bench-hub'
const space = (host: number) => `wharf-bench-${host}`

/** Host 0 is the server. Every host has one line, shaped both ways by a token bucket. */
export function openNetwork(hosts: number, megabits: number): Network {
  try {
    return namespaces(hosts, megabits)
  } catch (error) {
    removeSpaces(hosts)
    console.log(`no network namespaces here (${(error as Error).message.split('\n')[0]}): plain loopback`)
    return loopback()
  }
}

function namespaces(hosts: number, megabits: number): Network {
  removeSpaces(hosts)
  ip('netns', 'add', HUB)
  // Frames that only pass through are nobody's to filter, and asking costs a core that the contestants need.
  for (const table of ['ip', 'ip6', 'arp'])
    tryInside(HUB, 'sysctl', `net.bridge.bridge-nf-call-${table}tables=0`)
  inside(HUB, 'ip', 'link', 'add', 'bridge', 'type', 'bridge')
  inside(HUB, 'ip', 'link', 'set', 'bridge', 'up')
  for (let host = 0; host < hosts; host++) {
    ip('netns', 'add', space(host))
    inside(
      HUB,
      'ip',
      'link',
      'add',
      `port${host}`,
      'type',
      'veth',
      'peer',
      'name',
      'line',
      'netns',
      space(host),
    )
    inside(HUB, 'ip', 'link', 'set', `port${host}`, 'master', 'bridge', 'up')
    inside(space(host), 'ip', 'address', 'add', `10.77.0.${host + 1}/24`, 'dev', 'line')
    inside(space(host), 'ip', 'link', 'set', 'line', 'up')
    inside(space(host), 'ip', 'link', 'set', 'lo', 'up')
  }
  // The bucket takes the kernel's largest segments whole: cut into packets, sixteen lines would cost this machine's
  // cores more than any contestant does.
  const setRate = (host: number, rate: number) => {
    const bucket = ['root', 'tbf', 'rate', `${rate}mbit`, 'burst', '128kb', 'latency', '50ms']
    inside(space(host), 'tc', 'qdisc', 'replace', 'dev', 'line', ...bucket)
    inside(HUB, 'tc', 'qdisc', 'replace', 'dev', `port${host}`, ...bucket)
  }
  for (let host = 0; host < hosts; host++) setRate(host, megabits)
  return {
    kind: 'namespaces',
    address: (host) => `10.77.0.${host + 1}`,
    spawn: (host, command, args, options = {}) =>
      spawn('ip', ['netns', 'exec', space(host), command, ...args], options),
    sent: (host) => Number(inside(space(host), 'cat', '/sys/class/net/line/statistics/tx_bytes')),
    setRate,
    remove: () => removeSpaces(hosts),
  }
}

function loopback(): Network {
  return {
    kind: 'loopback',
    address: () => '127.0.0.1',
    spawn: (_host, command, args, options = {}) => spawn(command, args, options),
    sent: () => undefined,
    setRate: () => undefined,
    remove: () => undefined,
  }
}

function removeSpaces(hosts: number): void {
  const present = () => {
    try {
      return execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' })
    } catch {
      return ''
    }
  }
  for (const name of [HUB, ...Array.from({ length: hosts }, (_, host) => space(host))])
    if (new RegExp(`^${name}( |$)`, 'm').test(present())) ip('netns', 'delete', name)
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

function inside(name: string, command: string, ...args: string[]): string {
  return execFileSync('ip', ['netns', 'exec', name, command, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** For what not every kernel has. */
function tryInside(name: string, ...command: [string, ...string[]]): void {
  try {
    inside(name, ...command)
  } catch {
    // As it was.
  }
}

/** Most memory that a process ever had resident, in MB. */
export function peakResident(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
}

/** Seconds of a core that a process has used so far, its start included. */
export function coreSeconds(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
