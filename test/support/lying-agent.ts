// An agent that takes good pieces and gives bad ones: every byte it reads for a child is turned over.
import { PartFile } from '../../src/transfers/agent/part-file.ts'

const read = PartFile.prototype.read
PartFile.prototype.read = async function (this: PartFile, index: number, into: Buffer): Promise<void> {
  await read.call(this, index, into)
  for (let at = 0; at < into.length; at += 4096) into[at] = (into[at] ?? 0) ^ 0xff
}

await import('../../src/main.ts')
