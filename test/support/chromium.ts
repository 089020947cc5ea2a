import { type Browser, chromium } from 'playwright-core'
import { requireBinary } from './find-binary.ts'
import { LIMIT_MS } from './until.ts'

const FLAGS = ['--no-sandbox', '--headless=new', '--disable-gpu', '--disable-dev-shm-usage']

/** Undefined where none can be had. */
export const CHROMIUM = requireBinary('chromium')

export function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  if (!CHROMIUM) throw new Error('needs Chromium (Debian: apt-get install chromium)')
  return chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...flags], timeout: LIMIT_MS })
}
