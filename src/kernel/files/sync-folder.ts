import { isErrno } from './errno.ts'
import { openFile } from './files.ts'

/** Makes a rename or unlink inside the folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await openFile(path)
  try {
    await handle.sync()
  } catch (error) {
    // Windows and some network file systems cannot sync a folder; they order renames by themselves.
    if (!isErrno(error, 'EISDIR', 'EINVAL', 'EPERM', 'ENOTSUP')) throw error
  } finally {
    await handle.close()
  }
}
