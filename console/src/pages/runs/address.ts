const BELOW = '/runs/'

export function accountAddress(handle: string): string {
  return BELOW + encodeURIComponent(handle)
}

/** From the address itself: a handle may have a per cent sign, which the router would decode twice. */
export function handleInAddress(): string {
  const path = window.location.pathname.slice(BELOW.length)
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
