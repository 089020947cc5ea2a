import { type Browser, chromium } from 'playwright-core'
import { findBinary, requireBinary } from './find-binary.ts'
import { LIMIT_MS } from './until.ts'

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']

/** The engine without the rest of the browser takes about half the processor time. Undefined where none can be had. */
export const CHROMIUM = requireBinary('chromium-headless-shell') ?? findBinary('chromium')

export function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  if (!CHROMIUM) throw new Error('needs Chromium (Debian: apt-get install chromium-headless-shell)')
  return chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...flags], timeout: LIMIT_MS })
}
