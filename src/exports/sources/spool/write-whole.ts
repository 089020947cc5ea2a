import type { FileHandle } from 'node:fs/promises'

/** All of the bytes, though a single write may take less than it is given. */
export async function writeWhole(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten
}
