import { InProcessSignal } from '../../../src/engine/signal/in-process-signal.ts'
import { signalContract } from '../signal.contract.ts'

signalContract('in process', async () => {
  const signal = new InProcessSignal()
  return { instance: async () => signal, remove: () => signal.close() }
})
