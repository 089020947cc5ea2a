import type { Holding } from '../../pieces/index.ts'
import { RESULT, TargetFailure } from '../../wire/index.ts'
import type { Roots } from './guarded-directory.ts'
import { PartFile, type PartFileOrder } from './part-file.ts'

/** The disk gives back other bytes than it was given. */
export function notKept(): TargetFailure {
  return new TargetFailure(RESULT.WRITE_FAILED, 'the disk does not keep what is written to it')
}

/** Puts a file that is here in full to a second place, by the same steps as the first. */
export async function copyToPlace(roots: Roots, from: Holding, order: PartFileOrder): Promise<void> {
  const copy = await PartFile.open(roots, order)
  let finished = false
  try {
    const buffer = Buffer.allocUnsafe(order.manifest.pieceBytes)
    while (!copy.isWhole) {
      const piece = buffer.subarray(0, order.manifest.lengthOf(copy.have))
      await from.read(copy.have, piece)
      await copy.append(piece)
    }
    if (!(await copy.recheck())) throw notKept()
    await copy.finish()
    finished = true
  } finally {
    await copy.close({ remove: !finished })
  }
}
