/** What a source wants to see as `Authorization`. */
export interface Credentials {
  authorization(signal: AbortSignal): Promise<string>
  /** Called when a source refused it: whether another one can be had. */
  renew(refused: string): boolean
}

export function basicHeader(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`
}
