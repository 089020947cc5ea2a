import { InProcessBus } from '../../../src/jobs/index.ts'
import { signalContract } from '../bus.contract.ts'

signalContract('in process', async () => {
  const bus = new InProcessBus()
  return { instance: async () => bus, remove: () => bus.close() }
})
