import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import type { LiveEvent } from '../api/events.ts'
import { getExport } from '../api/exports.ts'
import { asked, ownExports, takeOwnExport } from '../api/own-exports.ts'
import type { LiveConnection } from '../live/connection.ts'
import { useLive, useLiveEvents } from '../live/live.tsx'
import { addressOf } from '../live/page-address.ts'
import { useToasts } from '../parts/dialog/toasts.tsx'
import { useStore } from '../store.ts'
import { notices, notify } from './notices.ts'

type End = 'succeeded' | 'failed'
const isEnd = (status: unknown): status is End => status === 'succeeded' || status === 'failed'

/** Tells of the end of each export that was asked for in this browser: on the page, or by the browser when nobody looks. */
export function ExportNotices() {
  const live = useLive()
  const tell = useTell()
  useLiveEvents((event: LiveEvent & { status?: unknown }) => {
    if (event.type !== `export.${event.status}` || event.task_id === null) return
    if (isEnd(event.status)) tell(event.task_id, event.status)
  })
  return live && <Missed live={live} tell={tell} />
}

/** What ended while the line was down, or before this page knew of it, made no event that told it anything. */
function Missed({ live, tell }: { live: LiveConnection; tell(id: string, end: End): void }) {
  const link = useStore(live.link)
  const count = useStore(asked)
  const latest = useRef(tell)
  latest.current = tell
  useEffect(() => {
    if (link !== 'live') return
    for (const { id } of ownExports())
      void getExport(id).then(
        ({ status }) => isEnd(status) && latest.current(id, status),
        () => undefined,
      )
  }, [link, count])
  return null
}

function useTell(): (id: string, end: End) => void {
  const { t } = useTranslation()
  const toasts = useToasts()
  const [location, go] = useLocation()
  return (id, end) => {
    const own = takeOwnExport(id)
    if (!own) return
    const path = addressOf('/exports', id)
    const words = t(`common.notices.${end}`, { name: own.name })
    const isSeen = document.visibilityState === 'visible' && document.hasFocus()
    if (!isSeen && notices.get()) return notify(words, { tag: id, onOpen: () => go(path) })
    if (location === path) return
    if (end === 'succeeded') toasts.success(words)
    else toasts.warning(words)
  }
}
