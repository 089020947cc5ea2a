import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Runs a module of Wharf in a process of its own: standard input is a pipe, and what it has to say comes over descriptor 3. It gets
 * nothing of the server's environment, which holds secrets. The caller ends it.
 */
export function startNode(module: URL): ChildProcess {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', module.pathname], {
    env: {},
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  })
}
