import { InProcessDispatcher } from '../../../src/engine/dispatch/in-process-dispatcher.ts'
import { dispatcherContract } from '../dispatcher.contract.ts'

// One process has one dispatcher; "instances" are its consumers.
dispatcherContract('in process', async () => {
  const dispatcher = new InProcessDispatcher()
  return { instance: async () => dispatcher, remove: () => dispatcher.close() }
})
