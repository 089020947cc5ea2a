import { InProcessSignal } from '../../../src/jobs/index.ts'
import { signalContract } from '../bus.contract.ts'

signalContract('in process', async () => {
  const signal = new InProcessSignal()
  return { instance: async () => signal, remove: () => signal.close() }
})
