import { Type } from 'typebox'
import { nullable, pageOf, Time } from '../../jobs/index.ts'

export { nullable, pageOf, Time }

export const Ticket = Type.Object({ ticket: Type.String(), expires_at: Time }, { title: 'Ticket' })

export const OneTask = Type.Object({ task_id: Type.String() })
export const OneProject = Type.Object({ project_id: Type.String() })
