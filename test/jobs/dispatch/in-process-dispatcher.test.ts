import { InProcessDispatcher } from '../../../src/jobs/index.ts'
import { dispatcherContract } from '../dispatcher.contract.ts'

// One process has one dispatcher; "instances" are its consumers.
dispatcherContract('in process', async () => {
  const dispatcher = new InProcessDispatcher()
  return { instance: async () => dispatcher, remove: () => dispatcher.close() }
})
