import { type Log, type Part, systemClock } from './kernel/index.ts'
import { Agent, type AgentOptions } from './transfers/agent/index.ts'
import { VERSION } from './version.ts'

/** The agent alone: nothing of the server is loaded, so that it stays small on hosts that have other work. */
export function composeAgent(options: Omit<AgentOptions, 'version'>, log: Log): Part {
  const agent = new Agent({ clock: systemClock, log }, { ...options, version: VERSION })
  return { name: 'agent', start: () => agent.start(), stop: () => agent.stop() }
}
