import { taskFunction } from '../../threads/index.ts'
import type { KeyCheck, KeyCheckTask } from './key-check-work.ts'

/** Compares the keys of all rows, in a thread. */
export const CHECK_KEYS = taskFunction<KeyCheckTask, KeyCheck>(import.meta.url, 'key-check-work', 'checkKeys')
