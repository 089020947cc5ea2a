/**
 * A download in flight is `NAME.MARK-CLAIM.part`. The mark belongs to the run and the claim to one worker's turn at it:
 * a worker that was away too long can still write, but into no file that its successor uses.
 */
export interface PartName {
  name: string
  mark: string
  claim: number
}

const FORM = /^(.+)\.([0-9a-f]{8})-(\d+)\.part$/

export function partName({ name, mark, claim }: PartName): string {
  return `${name}.${mark}-${claim}.part`
}

export function readPartName(file: string): PartName | undefined {
  const match = FORM.exec(file)
  if (!match) return undefined
  const [, name = '', mark = '', claim = ''] = match
  return { name, mark, claim: Number(claim) }
}

/** The last part of a UUID is random, so two runs of an account practically never share a mark. */
export function markOf(runId: string): string {
  return runId.replaceAll('-', '').slice(-8)
}
