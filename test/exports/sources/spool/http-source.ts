import { type Agent, request } from 'undici'
import type { PageSource } from '../../../../src/exports/sources/pages/index.ts'

/** The plainest client: no retries, no guard. */
export function httpSource(url: string, dispatcher: Agent): PageSource {
  return {
    async get(page, pageSize, signal) {
      const target = `${url}?page=${page}&page_size=${pageSize}`
      const { statusCode, headers, body } = await request(target, { dispatcher, signal })
      return { status: statusCode, headers: headers as Record<string, string>, body }
    },
  }
}
