import { createHash, createHmac } from 'node:crypto'

export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

export interface UnsignedRequest {
  method: string
  /** As they go over the wire: encoded, the parameters in order. See `encodePath` and `encodeQuery`. */
  path: string
  query: string
  /** Names in lower case, `host` among them. */
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/**
 * The headers of a request with its signature: AWS Signature Version 4, by which every S3-compatible store knows its callers. All headers
 * are signed, and the hash of the body.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export function signRequest(
  { method, path, query, headers, body }: UnsignedRequest,
  { accessKeyId, secretAccessKey, region }: S3Credentials,
  at: Date,
): Record<string, string> {
  const time = at.toISOString().replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const hash = sha256(body)
  const all: Record<string, string> = { ...headers, 'x-amz-content-sha256': hash, 'x-amz-date': time }
  const names = Object.keys(all).sort()
  const lines = names.map((name) => `${name}:${all[name]?.trim().replace(/ +/g, ' ')}\n`)
  const canonical = [method, path, query, lines.join(''), names.join(';'), hash].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  const signature = hmac(key, [ALGORITHM, time, scope, sha256(canonical)].join('\n')).toString('hex')
  return {
    ...all,
    authorization: `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  }
}

export function encodePath(path: string): string {
  return path.split('/').map(encode).join('/')
}

/** In the order in which the signature wants them. */
export function encodeQuery(parameters: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${encode(name)}=${encode(value)}`]))
    .sort()
    .join('&')
}

/** All but letters, digits and `-._~`. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
