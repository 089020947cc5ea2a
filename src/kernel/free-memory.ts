/**
 * Gives the memory of these bytes back at once, with all that shares it; nothing may use it any more. The collector would come for it
 * too, but it does not hurry for memory outside its heap, and a large file makes much of it.
 */
export function freeMemory(...bytes: readonly Uint8Array[]): void {
  for (const { buffer } of bytes) if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0)
}
