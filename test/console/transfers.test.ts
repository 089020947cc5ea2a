import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { layOut } from '../../console/src/pages/transfers/job/map-layout.ts'
import { Agent } from '../../src/carriers/swarm/agent/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { agentOptions } from '../support/agents.ts'
import { silentLog } from '../support/backends.ts'
import { describeConsole } from '../support/console.ts'
import { expectNoFaults } from '../support/console-faults.ts'
import { sha256sum } from '../support/sha256sum.ts'

const MANY = 5_000

function kindOf(index: number): string {
  if (index % 50 === 7) return 'failed'
  if (index % 100 === 3) return 'timeout'
  return index % 10 === 1 ? 'downloading' : 'success'
}

function stateOf(index: number): object {
  const failed = index % 100 === 7 ? 117 : 201
  const code = { success: 0, downloading: 115, timeout: 2004 }[kindOf(index)] ?? failed
  return {
    ...{ error_code: code, error_msg: code > 115 ? 'as told' : '', progress: code === 0 ? 100 : 50 },
    ...{ connected: true, place: 0 },
  }
}

/** An answer about many targets: no machine that runs tests has so many agents. */
function manyTargets() {
  const of = (kind: string) => {
    const targets: Record<string, object> = {}
    for (let index = 0; index < MANY; index++)
      if (kindOf(index) === kind) targets[`host-${index}:`] = stateOf(index)
    return targets
  }
  const time = new Date().toISOString()
  return {
    ...{
      job_id: 'many',
      project_id: 'p',
      biz_id: 1,
      app_id: 2,
      file_path: '/release/v1',
      file_name: 'app.bin',
    },
    ...{ file_signature: 'ab'.repeat(32), status: 'Running', created_at: time, window_ends_at: time },
    ...{ executed_at: time, finished_at: null, engine_task_id: 'e', file_size: 250_000_000 },
    ...{ delivered_bytes: 1.1e12, egress_bytes: 1.1e9, targets: MANY },
    places: [{ directory: '/opt/app', user: 'root', targets: MANY }],
    success_targets: of('success'),
    downloading_targets: of('downloading'),
    failed_targets: of('failed'),
    timeout_targets: of('timeout'),
  }
}

async function answerWithMany(page: Page): Promise<void> {
  await page.route('**/api/transfer-jobs/many', (route) => route.fulfill({ json: manyTargets() }))
}

/** The colour in the middle of a cell, as the canvas has it. */
function colourAt(page: Page, index: number, cell: number): Promise<number[]> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('.target-map canvas')
    const columns = Math.floor(canvas.clientWidth / ${cell})
    const scale = canvas.width / canvas.clientWidth
    const x = ((${index} % columns) + 0.4) * ${cell} * scale
    const y = (Math.floor(${index} / columns) + 0.4) * ${cell} * scale
    return [...canvas.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)
  })()`)
}

describeConsole(
  'the transfers page',
  (bench) => {
    async function startAgents(ids: string[]): Promise<string> {
      const folder = mkdtempSync(join(tmpdir(), 'wharf-console-agents-'))
      for (const id of ids) {
        const root = join(folder, id)
        mkdirSync(root)
        const options = {
          ...(await agentOptions(bench.wharf.address, id, root, { adminToken: bench.wharf.adminToken })),
          roots: [folder],
        }
        const agent = new Agent({ clock: systemClock, log: silentLog }, options)
        await agent.start()
        onTestFinished(() => agent.stop())
      }
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      return folder
    }

    test('a file is uploaded and delivered to every connected agent', async () => {
      const folder = await startAgents(['web-1'])
      const page = await bench.visit({ key: bench.wharf.demoKey, path: '/transfers' })
      await page.getByText('No deliveries yet').waitFor()
      await page.getByRole('cell', { name: 'web-1' }).waitFor()
      await page.getByRole('button', { name: 'New delivery' }).click()
      const buffer = randomBytes(700_000)
      const signature = createHash('sha256').update(buffer).digest('hex')
      const file = { name: '发布 1.bin', mimeType: 'application/octet-stream', buffer }
      await page.getByTestId('delivery-file').setInputFiles(file)
      await page.getByText(signature).waitFor()
      await page.getByRole('button', { name: 'Choose the 1 connected' }).click()
      await page.getByLabel('Directory on the target').fill(join(folder, 'in'))
      await bench.shoot(page, 'new-delivery')
      await page.getByRole('button', { name: 'Deliver' }).click()
      await page.getByRole('heading', { name: '发布 1.bin' }).waitFor()
      await page.getByRole('button', { name: 'Delivered 1' }).waitFor()
      await page.getByText('Delivered', { exact: true }).waitFor()
      expect(sha256sum(join(folder, 'in', '发布 1.bin'))).toBe(signature)
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Command palette' }).fill('console/发布')
      await page.getByRole('option', { name: /^console/ }).click()
      await page.getByText(signature).waitFor()

      await page.getByRole('link', { name: 'Transfers' }).last().click()
      await page.getByRole('link', { name: '发布 1.bin', exact: true }).waitFor()
      await page
        .getByRole('img', { name: /^683\.6 KiB delivered, 68[34]\.?\d* KiB of them sent by the server/ })
        .waitFor()
      await bench.shoot(page, 'transfers')
    })

    test('a target that fails is told in words, with its code', async () => {
      await startAgents(['web-2'])
      const page = await bench.visit({ key: bench.wharf.demoKey, path: '/transfers/new' })
      const file = { name: 'refused.bin', mimeType: 'application/octet-stream', buffer: Buffer.from('x') }
      await page.getByTestId('delivery-file').setInputFiles(file)
      await page.getByText('SHA-256').waitFor()
      await page.getByRole('button', { name: 'Choose the 1 connected' }).click()
      await page.getByLabel('Directory on the target').fill('/nowhere/at/all')
      await page.getByRole('button', { name: 'Deliver' }).click()
      await page
        .getByRole('cell', {
          name: /The directory is outside the directories that the agent may write to 203/,
        })
        .waitFor()
      const admin = await bench.visit({ key: bench.wharf.adminToken, path: '/overview' })
      const failure = admin.locator('.overview-noticed li', { hasText: 'refused.bin' })
      await failure.getByText('1 of 1 hosts failed: The directory is outside').waitFor()
    })

    test('five thousand targets are a map that can be read, filtered and pointed at', async () => {
      const page = await bench.visit({ key: bench.wharf.demoKey })
      await answerWithMany(page)
      await page.goto(`${bench.wharf.address}/transfers/job?id=many`)
      await page.getByRole('img', { name: 'Map of 5000 targets' }).waitFor()
      for (const words of ['Delivered 4,350', 'Downloading 500', 'Failed 100', 'Timed out 50'])
        await page.getByRole('button', { name: words }).waitFor()
      // A cell a target, in their order, and no element a target.
      const { width = 0 } = (await page.locator('.target-map').boundingBox()) ?? {}
      const { cell } = layOut(MANY, Math.floor(width))
      expect(cell).toBeGreaterThanOrEqual(5)
      await expect.poll(() => colourAt(page, 0, cell)).toEqual([0x1a, 0x70, 0x45])
      await expect.poll(() => colourAt(page, 7, cell)).toEqual([0xad, 0x31, 0x25])
      await expect.poll(() => colourAt(page, 3, cell)).toEqual([0x85, 0x54, 0x00])
      await expect.poll(() => page.locator('*').count()).toBeLessThan(2_000)
      await page.locator('.target-map canvas').hover({ position: { x: 7.5 * cell, y: 0.5 * cell } })
      await page.getByText('host-7 Failed · The agent is not connected (117)').waitFor()
      await bench.shoot(page, 'transfer-5000')

      await page.getByRole('button', { name: 'Failed 100' }).click()
      await page.getByLabel('Search targets, codes, reasons').fill('disk is full')
      await page.getByRole('cell', { name: 'host-57', exact: true }).waitFor()
      await expect.poll(() => page.locator('[data-row]').count()).toBe(50)
      await expect.poll(() => page.getByRole('cell', { name: 'host-7', exact: true }).count()).toBe(0)
      await expect.poll(() => colourAt(page, 0, cell)).not.toEqual([0x1a, 0x70, 0x45])
    })

    test('no page of it has a serious fault, in either language, in the dark and on a phone', async () => {
      const key = bench.wharf.demoKey
      const ready = (page: Page) => page.locator('[data-row]').first().waitFor()
      await expectNoFaults(bench, { name: 'transfers', path: '/transfers', key, ready })
      await expectNoFaults(bench, {
        name: 'new-delivery',
        path: '/transfers/new',
        key,
        ready: (page) => page.locator('.delivery-form').waitFor(),
      })
      await expectNoFaults(bench, {
        name: 'transfer-job',
        path: '/transfers/job?id=many',
        key,
        prepare: answerWithMany,
        ready,
      })
    })
  },
  { COLLECT_WINDOW_SECONDS: '2' },
)
