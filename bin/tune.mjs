// How Wharf wants its Node to be; imported before anything else of it is loaded.
import module from 'node:module'
import v8 from 'node:v8'

// What was stripped of its types and compiled once is kept: later starts need neither the time nor the memory for it.
module.enableCompileCache()
// Loading makes much garbage that dies young; a nursery that grows with it would stay resident for as long as we live.
v8.setFlagsFromString('--max-semi-space-size=2')
v8.setFlagsFromString('--semi-space-growth-factor=1')
