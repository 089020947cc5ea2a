import { Problem } from '../../../api/problem.ts'
import type { Delivery } from '../../../api/transfers.ts'

const AT_ONCE = 8
const WAIT_MS = 1_000
const MOST_WAITS = 60

export interface SendOutcome {
  jobId: string | null
  failed: { agent: string; error: unknown }[]
}

/** One request a target, a few at a time: they join the same window. Who is asked to wait waits. */
export async function sendAll(
  deliveries: readonly Delivery[],
  ask: (delivery: Delivery) => Promise<{ job_id: string }>,
  onProgress: (done: number) => void,
): Promise<SendOutcome> {
  const outcome: SendOutcome = { jobId: null, failed: [] }
  let next = 0
  let done = 0
  const worker = async () => {
    for (let delivery = deliveries[next++]; delivery; delivery = deliveries[next++]) {
      try {
        const { job_id } = await patiently(() => ask(delivery))
        outcome.jobId = job_id
      } catch (error) {
        outcome.failed.push({ agent: delivery.target_agent_id, error })
      }
      onProgress(++done)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return outcome
}

async function patiently(ask: () => Promise<{ job_id: string }>): Promise<{ job_id: string }> {
  for (let wait = 0; ; wait++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'RATE_LIMITED') || wait === MOST_WAITS) throw error
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
    }
  }
}
