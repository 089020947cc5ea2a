import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeConsole } from '../support/console.ts'
import { expectNoFaults } from '../support/console-faults.ts'
import { until } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const MB = 1_000_000

const taskRow = (page: Page, file: string) => page.locator('tr', { hasText: file })
const uploadRow = (page: Page, file: string) => page.locator(`[data-upload="${file}"]`)

/** How much of an upload is there, in percent; 0 before it is shown. */
async function uploaded(page: Page, file: string): Promise<number> {
  const bar = uploadRow(page, file).getByRole('progressbar')
  return (await bar.count()) === 0 ? 0 : Number(await bar.getAttribute('aria-valuenow'))
}

/** Makes the line so slow that a test can do something meanwhile, or with -1 as fast as ever. */
async function uploadLimit(page: Page): Promise<(bytesPerSecond: number) => Promise<void>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  return async (uploadThroughput) => {
    const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput }
    await session.send('Network.emulateNetworkConditions', conditions)
  }
}

async function download(page: Page, file: string): Promise<Buffer> {
  const started = page.waitForEvent('download')
  await taskRow(page, file).getByRole('button', { name: 'Download result' }).click()
  return readFileSync(await (await started).path())
}

describeConsole(
  'the processing page',
  (bench) => {
    const open = () => bench.visit({ key: bench.wharf.demoKey, path: '/processing' })

    test('a file that is dropped is uploaded, processed, and its result downloaded', async () => {
      const page = await open()
      await page.getByText('No tasks yet').waitFor()
      const dropped = await page.evaluateHandle(`(() => {
        const transfer = new DataTransfer()
        transfer.items.add(new File(['what was dropped'], '掉落.txt', { type: 'text/plain' }))
        return transfer
      })()`)
      const zone = page.locator('.drop-zone')
      await zone.dispatchEvent('dragover', { dataTransfer: dropped })
      await page.getByText('Release to upload').waitFor()
      await zone.dispatchEvent('drop', { dataTransfer: dropped })
      await taskRow(page, '掉落.txt').getByText('Done', { exact: true }).waitFor()
      expect((await download(page, '掉落.txt')).toString()).toBe('what was dropped')
    })

    test('an upload goes on where it was after its server was killed', async () => {
      const page = await open()
      const limit = await uploadLimit(page)
      await limit(MB)
      const buffer = randomBytes(12 * MB)
      const file = { name: 'cut.bin', mimeType: 'application/octet-stream', buffer }
      await page.getByTestId('upload-files').setInputFiles(file)
      await until('a good part is there', async () => (await uploaded(page, 'cut.bin')) >= 20)
      await bench.wharf.kill()
      await uploadRow(page, 'cut.bin').getByText('Interrupted; resumes by itself').waitFor()
      await bench.shoot(page, 'processing-cut')
      await limit(-1)
      await bench.wharf.start()
      await taskRow(page, 'cut.bin').getByText('Done', { exact: true }).waitFor()
      expect((await download(page, 'cut.bin')).equals(buffer)).toBe(true)
    })

    test('after a reload the same file goes on where it was; it can be paused, and given up', async () => {
      const page = await open()
      const limit = await uploadLimit(page)
      await limit(MB)
      // From the disk: what goes on is the same file, with the same date.
      const file = join(temporaryFolder(), 'again.bin')
      writeFileSync(file, randomBytes(24 * MB))
      const choose = () => page.getByTestId('upload-files').setInputFiles(file)
      await choose()
      await until('a whole piece is there', async () => (await uploaded(page, 'again.bin')) >= 20)
      await uploadRow(page, 'again.bin').getByRole('button', { name: 'Pause' }).click()
      await uploadRow(page, 'again.bin').getByText('Paused').waitFor()
      await page.reload()
      await page.getByText('Drop files here').waitFor()
      await choose()
      await uploadRow(page, 'again.bin').getByText('resumed at').waitFor()
      await uploadRow(page, 'again.bin').getByRole('button', { name: 'Discard' }).click()
      await uploadRow(page, 'again.bin').waitFor({ state: 'detached' })
      await expect.poll(() => taskRow(page, 'again.bin').count()).toBe(0)
    })

    test('a task that fails says why', async () => {
      const page = await open()
      const file = { name: 'broken.txt', mimeType: 'text/plain', buffer: Buffer.from('fail') }
      await page.getByTestId('upload-files').setInputFiles(file)
      await taskRow(page, 'broken.txt').getByText('Failed', { exact: true }).waitFor()
      await taskRow(page, 'broken.txt').getByText('this one is broken').waitFor()
    })

    test('it has no serious fault, in either language, in the dark and on a phone', async () => {
      await expectNoFaults(bench, {
        name: 'processing',
        path: '/processing',
        key: bench.wharf.demoKey,
        ready: (page) => taskRow(page, 'broken.txt').waitFor(),
      })
    })
  },
  {
    PROCESSOR_COMMAND: `sh -c 'if grep -q ^fail "$1"; then echo this one is broken >&2; exit 1; fi; cp "$1" "$2"' work {input} {output}`,
    TASK_PROCESSOR_RETRIES: '0',
  },
)
