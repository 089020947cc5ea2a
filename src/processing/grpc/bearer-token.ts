import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  status as Status,
} from '@grpc/grpc-js'
import { hashSecret, matchesHash } from '../../tenancy/index.ts'

/** Load balancers ask for health without a token. */
const OPEN = '/grpc.health.v1.Health/'

/** Lets only calls through that carry `authorization: Bearer TOKEN`. */
export function bearerToken(token: string): ServerInterceptor {
  const hash = hashSecret(token)
  return (method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, go) => {
            if (method.path.startsWith(OPEN) || isGood(metadata, hash)) return go(metadata)
            call.sendStatus({
              code: Status.UNAUTHENTICATED,
              details: "this needs the metadata 'authorization: Bearer TOKEN'",
            })
          },
        }),
    })
}

function isGood(metadata: Metadata, hash: string): boolean {
  const [header] = metadata.get('authorization')
  const given = /^Bearer +(\S+)$/i.exec(String(header ?? ''))?.[1]
  return given !== undefined && matchesHash(given, hash)
}
