import type { Patch } from '../../live/patch.ts'

export const TRANSFERS_KEY = ['transfers'] as const

/** Each target of thousands tells for itself; the lists have counts, so they are read again, a few times a second at most. */
export const patchTransfers: Patch = ({ type }, _client, refresher) => {
  if (type.startsWith('transfer.')) refresher.refresh(TRANSFERS_KEY)
}
