import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type ChannelCredentials,
  type Client,
  credentials,
  Metadata,
  makeClientConstructor,
  type ServiceError,
  status as Status,
} from '@grpc/grpc-js'
import { service as healthService } from 'grpc-health-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import { GrpcServer, type GrpcServerOptions } from '../../src/processing/grpc/grpc-server.ts'
import { loadTaskProto } from '../../src/processing/grpc/task-proto.ts'
import { availableBackends, type BackendName, silentLog } from '../support/backends.ts'
import { requireBinary, requirePython } from '../support/find-binary.ts'
import { openConnection } from '../support/raw-connection.ts'
import { stalled } from '../support/stopping.ts'
import { until } from '../support/until.ts'
import { runWharf, temporaryFolder } from '../support/wharf-process.ts'
import { setup, waitingCommand } from './setup.ts'

async function serve(name: BackendName = 'embedded', options: Partial<GrpcServerOptions> = {}) {
  const made = await setup(name)
  const server = new GrpcServer(
    { service: made.service, healthy: () => made.store.ping(), clock: systemClock, log: silentLog },
    { host: '127.0.0.1', port: 0, token: null, tls: null, ...options },
  )
  await server.start()
  onTestFinished(async () => {
    await server.drain()
    await server.disconnect(AbortSignal.abort())
  })
  const client = (how: ChannelCredentials = credentials.createInsecure()) => {
    const { TaskService } = loadTaskProto()
    const opened = new TaskService(server.address, how)
    onTestFinished(() => opened.close())
    return caller(opened)
  }
  const { tempFile, startProcessor, folder, handOff, rows } = made
  return { tempFile, startProcessor, folder, handOff, rows, server, client }
}

type Answer = Record<string, string>

function caller(client: Client) {
  return (method: string, request: object, metadata = new Metadata(), options: object = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const call = (client as unknown as Record<string, (...args: unknown[]) => unknown>)[method]
      call?.call(client, request, metadata, options, (error: ServiceError | null, answer: Answer) =>
        error ? reject({ code: error.code, details: error.details }) : resolve(answer),
      )
    })
}

for (const name of availableBackends()) {
  describe(`task.v1.TaskService on ${name}`, () => {
    test('makes a task out of a temp file and tells how it stands', async () => {
      const { client, tempFile, startProcessor, folder, handOff } = await serve(name)
      const call = client()
      const { task_id = '' } = await call('CreateTask', {
        temp_file_path: tempFile(),
        original_filename: 'v.mov',
      })
      expect(task_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-/)
      expect(existsSync(join(handOff.storage, task_id, 'original.mov'))).toBe(true)
      const pending = { task_id, status: 'PENDING', result_path: '', error_message: '' }
      expect(await call('GetTaskStatus', { task_id })).toEqual(pending)
      const status = () => call('GetTaskStatus', { task_id })
      const { command, letGo } = waitingCommand({ folder })
      await startProcessor({ command })
      await until('it is taken', status, (task) => task.status === 'PROCESSING')
      letGo()
      const result_path = join(handOff.storage, task_id, 'result.mp4')
      const done = { task_id, status: 'COMPLETED', result_path, error_message: '' }
      expect(await until('it has ended', status, (task) => task.status !== 'PROCESSING')).toEqual(done)
    })

    test.each([
      ['CreateTask', { original_filename: 'a' }, 3, 'temp_file_path 不能为空'],
      ['CreateTask', { temp_file_path: 'x' }, 3, 'original_filename 不能为空'],
      ['CreateTask', { temp_file_path: '/etc/passwd', original_filename: 'a' }, 3, /^temp_file_path 无效/],
      ['GetTaskStatus', {}, 3, 'task_id 不能为空'],
      ['GetTaskStatus', { task_id: 'nope' }, 5, '任务ID不存在'],
    ])('%s with %j fails with code %i and the words of the table', async (method, request, code, details) => {
      const call = (await serve(name)).client()
      const words = typeof details === 'string' ? details : expect.stringMatching(details)
      await expect(call(method, request)).rejects.toEqual({ code, details: words })
    })

    test('a temp file that is gone gives INTERNAL 文件交接失败', async () => {
      const { client, handOff } = await serve(name)
      const request = { temp_file_path: join(handOff.temp, 'gone'), original_filename: 'a' }
      await expect(client()('CreateTask', request)).rejects.toEqual({ code: 13, details: '文件交接失败' })
    })
  })
}

test('a call whose deadline has passed makes no task and leaves the file', async () => {
  const { client, tempFile, rows } = await serve()
  const path = tempFile()
  const request = { temp_file_path: path, original_filename: 'a' }
  await expect(
    client()('CreateTask', request, new Metadata(), { deadline: Date.now() - 1 }),
  ).rejects.toMatchObject({
    code: 4,
  })
  expect(existsSync(path)).toBe(true)
  expect(await rows.page('', ['PENDING'])).toEqual([])
})

test('a client that says nothing any more is cut, before its first call and after one; others stay', async () => {
  const { server, client } = await serve('embedded', { pingMs: 500 })
  const call = client()
  const ask = () => call('GetTaskStatus', { task_id: 'x' }).catch(({ code }) => code as number)
  expect(await ask()).toBe(Status.NOT_FOUND)
  const greeting = Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  ])
  const silent = await Promise.all(
    [0, greeting.length].map(async (sent) => {
      const socket = await openConnection(`http://${server.address}`)
      socket.write(greeting.subarray(0, sent))
      return { closed: once(socket.resume(), 'close'), socket }
    }),
  )
  // Their side of the connection ends with ours only if they say so.
  for (const { socket } of silent) socket.on('end', () => socket.end())
  for (const { closed } of silent) await closed
  await until('one that answers is served', async () => (await ask()) === Status.NOT_FOUND)
})

test('clients that never read hold up no stop', async () => {
  const { server, client } = await serve()
  await stalled(`http://${server.address}`)
  await stalled(`http://${server.address}`, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  // One that comes after them is served, so they have been let in.
  await expect(client()('GetTaskStatus', { task_id: 'x' })).rejects.toMatchObject({ code: Status.NOT_FOUND })
  await server.disconnect(new AbortController().signal)
})

test('with a token, calls without it are refused, and health is open', async () => {
  const { client, server } = await serve('embedded', { token: 'a-long-enough-token' })
  const call = client()
  const good = new Metadata()
  good.set('authorization', 'Bearer a-long-enough-token')
  const bad = new Metadata()
  bad.set('authorization', 'Bearer another-long-token')
  await expect(call('GetTaskStatus', { task_id: 'x' })).rejects.toMatchObject({ code: 16 })
  await expect(call('GetTaskStatus', { task_id: 'x' }, bad)).rejects.toMatchObject({ code: 16 })
  await expect(call('GetTaskStatus', { task_id: 'x' }, good)).rejects.toMatchObject({ code: 5 })
  expect(await health(server.address)).toBe('SERVING')
})

async function health(address: string): Promise<string> {
  const Health = makeClientConstructor(healthService as never, 'Health')
  const client = new Health(address, credentials.createInsecure())
  try {
    return (await caller(client)('check', { service: 'task.v1.TaskService' })).status ?? ''
  } finally {
    client.close()
  }
}

const openssl = requireBinary('openssl')
if (!openssl) console.error('!!! SKIPPED: gRPC over TLS. Debian: apt-get install openssl')

test.runIf(openssl)('with a certificate it speaks TLS, and with a CA it asks clients for one', async () => {
  const folder = temporaryFolder()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ]
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync(openssl ?? '', [...args, '-keyout', key, '-out', cert, ...names], { stdio: 'ignore' })
  const secure = await serve('embedded', { tls: { key, cert, ca: null } })
  const trust = readFileSync(cert)
  const call = secure.client(credentials.createSsl(trust))
  await expect(call('GetTaskStatus', { task_id: 'x' })).rejects.toMatchObject({ code: 5 })
  await expect(secure.client()('GetTaskStatus', { task_id: 'x' })).rejects.toMatchObject({ code: 14 })
  const mutual = await serve('embedded', { tls: { key, cert, ca: cert } })
  await expect(
    mutual.client(credentials.createSsl(trust))('GetTaskStatus', { task_id: 'x' }),
  ).rejects.toMatchObject({ code: 14 })
  const shown = credentials.createSsl(trust, readFileSync(key), trust)
  await expect(mutual.client(shown)('GetTaskStatus', { task_id: 'x' })).rejects.toMatchObject({ code: 5 })
})

test('a port that is taken, or a certificate that is missing, gives one line that names the setting', async () => {
  const { server } = await serve()
  const [host = '', port = ''] = server.address.split(':')
  const env = { WHARF_DATA_DIR: temporaryFolder(), WHARF_PORT: '0' }
  const taken = runWharf(['serve'], { ...env, TASK_GRPC_HOST: host, TASK_GRPC_PORT: port })
  expect(await taken.exited).toMatchObject({ code: 1 })
  expect(taken.output.err).toMatch(/^wharf: cannot listen on 127\.0\.0\.1:\d+ for gRPC .*TASK_GRPC_PORT.*\n$/)
  const missing = runWharf(['serve'], { ...env, TASK_GRPC_TLS_CERT: '/none', TASK_GRPC_TLS_KEY: '/none' })
  expect(await missing.exited).toMatchObject({ code: 1 })
  expect(missing.output.err).toMatch(/^wharf: TASK_GRPC_TLS_\*: .*\n$/)
})

test('listening beyond loopback without a token refuses to start', async () => {
  const open = runWharf(['serve'], {
    WHARF_DATA_DIR: temporaryFolder(),
    WHARF_PORT: '0',
    TASK_GRPC_HOST: '0.0.0.0',
  })
  expect(await open.exited).toMatchObject({ code: 1 })
  expect(open.output.err).toMatch(/^wharf: TASK_GRPC_TOKEN must be set/)
})

const python = pythonWithGrpc()
if (!python)
  console.error(
    '!!! SKIPPED: the foreign gRPC client. Debian: apt-get install python3-grpcio protobuf-compiler',
  )

test.runIf(python)(
  'a Python client that knows only the proto file works with it, reflection included',
  async () => {
    const { server, tempFile } = await serve()
    const folder = temporaryFolder()
    const proto = fileURLToPath(new URL('../../proto/task/v1/', import.meta.url))
    execFileSync('protoc', [`--proto_path=${proto}`, `--python_out=${folder}`, 'task.proto'])
    const script = join(folder, 'client.py')
    writeFileSync(script, readFileSync(new URL('./grpc-client.py', import.meta.url)))
    const out = await run(python ?? '', [script, server.address, tempFile('from python')])
    expect(JSON.parse(out)).toEqual({
      status: 'PENDING',
      empty: ['INVALID_ARGUMENT', 'temp_file_path 不能为空'],
      unknown: ['NOT_FOUND', '任务ID不存在'],
      again: ['INTERNAL', '文件交接失败'],
      reflected: true,
    })
  },
)

function pythonWithGrpc(): string | undefined {
  const protoc = requireBinary('protoc')
  return protoc && requirePython('grpc, google.protobuf')
}

async function run(program: string, args: string[]): Promise<string> {
  const { execFile } = await import('node:child_process')
  return new Promise((resolve, reject) => {
    execFile(program, args, (error, out, err) => (error ? reject(new Error(err)) : resolve(out)))
  })
}
