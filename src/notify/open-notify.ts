import type { Ground, TaskViews } from '../domain/index.ts'
import type { JobKind } from '../jobs/index.ts'
import { Callbacks } from './callbacks.ts'
import type { Mailer } from './mailer.ts'
import { Notices } from './notices.ts'

export interface Notify {
  callbacks: Callbacks
  /** The jobs that deliver callbacks and notices. */
  kinds: readonly JobKind[]
  /** The kind, whose ends are announced if its views say how. */
  following(kind: JobKind): JobKind
}

/** Callbacks and notices for the tasks of all domains. */
export function openNotify(
  { engine, ledger, net: http, tenancy: { projects, sealer } }: Ground,
  { views, mailer }: { views: TaskViews; mailer: Mailer | null },
): Notify {
  const deps = { engine, ledger, projects, sealer, http, clock: engine.clock, views }
  const callbacks = new Callbacks(deps)
  const notices = new Notices({ ...deps, mailer })
  return {
    callbacks,
    kinds: [callbacks.kind, notices.kind],
    following(kind) {
      const { callback, notice } = views[kind.name] ?? {}
      if (!callback && !notice) return kind
      return {
        ...kind,
        async onEnded(tx, ended) {
          await kind.onEnded?.(tx, ended)
          if (callback) await callbacks.announce(tx, kind.name, ended)
          if (notice) await notices.announce(tx, kind.name, ended)
        },
      }
    },
  }
}
