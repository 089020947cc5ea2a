import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect, useRef, useState } from 'react'
import type { LiveEvent } from '../api/events.ts'
import { ledgerAway } from '../api/reachable.ts'
import { session } from '../api/session.ts'
import { askWho } from '../api/who.ts'
import { useStore } from '../store.ts'
import { LiveConnection } from './connection.ts'
import type { Patch } from './patch.ts'
import { Refresher } from './refresher.ts'

const Live = createContext<LiveConnection | null>(null)

const ASK_AGAIN_MS = 3_000

const listeners = new Set<(event: LiveEvent) => void>()

interface LiveProps {
  /** A constant: another list opens another connection. */
  patches: readonly Patch[]
  children: ReactNode
}

/** Keeps everything below it fresh while somebody is signed in. */
export function LiveProvider({ patches, children }: LiveProps) {
  const client = useQueryClient()
  const id = useStore(session)?.id
  const [connection, setConnection] = useState<LiveConnection | null>(null)
  useEffect(() => {
    if (id === undefined) return
    const refresher = new Refresher(client)
    const opened = new LiveConnection({
      onSnapshotNeeded: () => void client.invalidateQueries(),
      onEvent: (event) => {
        for (const patch of patches) patch(event, client, refresher)
        for (const listener of listeners) listener(event)
      },
    })
    setConnection(opened)
    void opened.run()
    return () => {
      opened.close()
      setConnection(null)
    }
  }, [client, id, patches])
  const away = useStore(ledgerAway)
  useEffect(() => {
    if (!away) return
    // The stream stays open meanwhile, so nothing else says when the database is back.
    const timer = setInterval(() => void askWho().catch(() => undefined), ASK_AGAIN_MS)
    return () => {
      clearInterval(timer)
      void client.invalidateQueries()
    }
  }, [client, away])
  return <Live value={connection}>{children}</Live>
}

export function useLive(): LiveConnection | null {
  return use(Live)
}

/** Hears every event while it is drawn, after what was read has been changed by it. */
export function useLiveEvents(listener: (event: LiveEvent) => void): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => {
    const hear = (event: LiveEvent) => latest.current(event)
    listeners.add(hear)
    return () => void listeners.delete(hear)
  }, [])
}
