// How Wharf wants its Node to be; imported before anything else of it is loaded.
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import v8 from 'node:v8'

// What was stripped of its types and compiled once is kept: later starts need neither the time nor the memory for it.
// Beside the code it outlives the machine's temporary files, which serve where that folder cannot be written.
const kept = fileURLToPath(new URL('../node_modules/.cache/wharf', import.meta.url))
const { status } = module.enableCompileCache(kept)
if (status === module.constants.compileCacheStatus.FAILED) module.enableCompileCache()
// Loading makes much garbage that dies young; a nursery that grows with it would stay resident for as long as we live.
v8.setFlagsFromString('--max-semi-space-size=2')
v8.setFlagsFromString('--semi-space-growth-factor=1')
