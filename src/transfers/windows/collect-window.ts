/** Time is cut into windows of a fixed length, counted from 1970: early callers wait no longer because others come. */
export interface CollectWindow {
  bucket: number
  /** The first millisecond that belongs to the next window. */
  endsAt: number
}

export function windowAt(nowMs: number, seconds: number): CollectWindow {
  return windowOf(Math.floor(Math.floor(nowMs / 1000) / seconds), seconds)
}

export function windowOf(bucket: number, seconds: number): CollectWindow {
  return { bucket, endsAt: (bucket + 1) * seconds * 1000 }
}
