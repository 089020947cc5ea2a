import { once } from 'node:events'
import { type Client, credentials, status as GRPC, type ServiceError } from '@grpc/grpc-js'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { readAgentMessage } from '../../src/carriers/swarm/coordinator/read-agent-message.ts'
import { loadTaskProto } from '../../src/processing/grpc/task-proto.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { openConnection } from '../support/raw-connection.ts'
import { fuzz, limitMs, seed } from './fuzzing.ts'
import { oddText, oddValue, toJson } from './odd-values.ts'

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array))

test(`no gRPC call is too odd (seed ${seed})`, { timeout: limitMs }, async () => {
  const { grpcAddress = '', ask } = await startHttp()
  const { TaskService } = loadTaskProto()
  const client = new TaskService(grpcAddress, credentials.createInsecure())
  onTestFinished(() => client.close())
  const call = (method: string, request: object) =>
    new Promise<ServiceError | null>((resolve, reject) => {
      const asked = (client as Client & Record<string, unknown>)[method] as (...args: unknown[]) => unknown
      try {
        asked.call(client, request, (error: ServiceError | null) => resolve(error))
      } catch (error) {
        reject(error)
      }
    })
  const words = fc.record({ temp_file_path: oddText, original_filename: oddText, task_id: oddText })
  await fuzz(
    fc.tuple(fc.constantFrom('CreateTask', 'GetTaskStatus'), words, bytes),
    async ([method, request, raw]) => {
      const error = await call(method, request)
      expect([GRPC.INTERNAL, GRPC.UNKNOWN], `${method} ${toJson(request)}: ${error?.message}`).not.toContain(
        error?.code,
      )
      const socket = await openConnection(`http://${grpcAddress}`)
      socket.end(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n').subarray(0, raw[0]), raw]))
      socket.resume()
      await once(socket, 'close').finally(() => socket.destroy())
    },
  )
  expect((await ask('GET', '/readyz')).status).toBe(200)
})

/** Opens a WebSocket, says everything, and closes it; or is refused. */
async function talk(url: string, token: string, messages: readonly (string | Buffer)[]): Promise<number> {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
  const refused = new Promise<number>((resolve) => {
    socket.on('unexpected-response', (request, response) => {
      resolve(response.statusCode ?? 0)
      request.destroy()
    })
    socket.on('error', () => resolve(0))
  })
  const opened = once(socket, 'open').then(() => 101)
  const status = await Promise.race([refused, opened])
  if (status !== 101) return status
  for (const message of messages) socket.send(message)
  socket.close()
  await once(socket, 'close')
  return status
}

const message = fc.oneof(oddValue.map(toJson), oddText, bytes)

test(`nothing said on a WebSocket is too odd (seed ${seed})`, { timeout: limitMs }, async () => {
  const wharf = await startHttp()
  const { id, key } = await newProject(wharf)
  const address = wharf.address.replace('http', 'ws')
  const query = fc.dictionary(
    fc.constantFrom('task_id', 'project_id', 'after', 'token', 'ticket'),
    fc.oneof(fc.constantFrom(id, '0', '5'), oddText),
    { maxKeys: 3 },
  )
  const asked = fc.record({
    query,
    path: fc.constantFrom('/ws', '/ws', '/ws/agent', '/', '/%zz'),
    token: fc.constantFrom(key, ADMIN_TOKEN, 'wrong'),
    messages: fc.array(message, { maxLength: 4 }),
  })
  await fuzz(asked, async ({ query, path, token, messages }) => {
    const text = new URLSearchParams(query).toString()
    const status = await talk(`${address}${path}?${text}`, token, messages)
    expect(status < 500, `${path}?${text}: ${status}`).toBe(true)
  })
  expect((await wharf.ask('GET', '/livez')).status).toBe(200)
})

const agentMessage = fc.oneof(
  message,
  fc
    .record(
      {
        type: fc.constantFrom('hello', 'enroll', 'report', 'done', 'orphan', 'probed'),
        agent_id: fc.oneof(fc.constant('fuzz'), oddText),
        container_id: fc.oneof(fc.constant(''), oddText),
        public_key: oddText,
        host: oddValue,
        port: fc.oneof(fc.nat({ max: 65_535 }), oddValue),
        version: oddText,
        tasks: fc.array(oddValue, { maxLength: 2 }),
        task: oddText,
        code: fc.oneof(fc.constantFrom(0, 115), oddValue),
        message: oddText,
        parent: oddValue,
        reason: fc.constantFrom('lost', 'refused'),
        probe: oddValue,
        bytes: oddValue,
        ms: oddValue,
      },
      { requiredKeys: ['type'] },
    )
    .map(toJson),
)

test(`nothing that an agent says is too odd (seed ${seed})`, { timeout: limitMs }, async () => {
  const wharf = await startHttp()
  const address = wharf.address.replace('http', 'ws')
  const invite = async (n: number): Promise<string> => {
    const body = { agent_id: `fuzz${n}`, container_id: '' }
    const answer = await wharf.ask('POST', '/api/agents/enrollments', { key: ADMIN_TOKEN, body })
    return answer.ok ? ((await answer.json()) as { token: string }).token : 'none'
  }
  let agents = 0
  await fuzz(fc.array(agentMessage, { minLength: 1, maxLength: 4 }), async (messages) => {
    for (const said of messages) {
      try {
        readAgentMessage(String(said))
      } catch (error) {
        // Whoever listens closes the line for anything that is thrown; only a crash of the reader would be odd.
        expect(error instanceof RangeError || error instanceof TypeError, String(error)).toBe(false)
      }
    }
    agents += 1
    expect(await talk(`${address}/ws/agent`, await invite(agents), messages)).toBeLessThan(500)
  })
  expect((await wharf.ask('GET', '/api/agents', { key: ADMIN_TOKEN })).status).toBe(200)
})
