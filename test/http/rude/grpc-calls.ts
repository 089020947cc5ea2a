import { service as healthService } from 'grpc-health-check'
import { loadTaskProto } from '../../../src/processing/grpc/task-proto.ts'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const [DATA, HEADERS, SETTINGS] = [0, 1, 4]
const [END_STREAM, END_HEADERS] = [1, 4]
/** The identifier of the setting, and its value: the server may send no byte of an answer. */
const NO_WINDOW = Buffer.from([0, 4, 0, 0, 0, 0])

/** What an HTTP/2 client says before anything else. */
const greeting = (settings = Buffer.alloc(0)) => Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, settings)])

function frame(type: number, flags: number, stream: number, content: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([0, content.length >> 8, content.length & 0xff, type, flags, 0, 0, 0, stream]),
    content,
  ])
}

/** A header as HPACK writes it when it uses no table. */
function header(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])
}

function call(path: string, request: Buffer): [head: Buffer, message: Buffer] {
  const fields = {
    ...{ ':method': 'POST', ':scheme': 'http', ':path': path, ':authority': 'wharf.test' },
    ...{ 'content-type': 'application/grpc', te: 'trailers' },
  }
  const head = Buffer.concat(Object.entries(fields).map(([name, value]) => header(name, value)))
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, request.length]), request])
  return [frame(HEADERS, END_HEADERS, 1, head), frame(DATA, END_STREAM, 1, message)]
}

/** Every method of the services, each as parts after which the client may be gone. */
export function grpcCalls(): Record<string, Buffer[]> {
  const request = { task_id: 'rude', temp_file_path: '/rude', original_filename: 'rude', service: '' }
  const methods = [loadTaskProto().TaskService.service, healthService as never].flatMap((service) =>
    Object.values(service).map(({ path, requestSerialize }) => [path, requestSerialize(request)] as const),
  )
  const listServices = Buffer.from([0x3a, 0])
  const reflection = ['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', listServices] as const
  return Object.fromEntries(
    [...methods, reflection].flatMap(([path, bytes]) => {
      const [head, message] = call(path, bytes)
      const parts = [head.subarray(0, 20), head.subarray(20), message.subarray(0, 7), message.subarray(7)]
      return [
        [path, [greeting(), ...parts]],
        [`${path}, whose answer is not taken`, [greeting(NO_WINDOW), ...parts]],
      ]
    }),
  )
}
