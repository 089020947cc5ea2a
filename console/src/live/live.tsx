import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect, useState } from 'react'
import { session } from '../api/session.ts'
import { LiveConnection } from './connection.ts'
import { PATCHES } from './patches.ts'
import { Refresher } from './refresher.ts'
import { useStore } from './store.ts'

const Live = createContext<LiveConnection | null>(null)

/** Keeps everything below it fresh while somebody is signed in. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient()
  const id = useStore(session)?.id
  const [connection, setConnection] = useState<LiveConnection | null>(null)
  useEffect(() => {
    if (id === undefined) return
    const refresher = new Refresher(client)
    const opened = new LiveConnection({
      onSnapshotNeeded: () => void client.invalidateQueries(),
      onEvent: (event) => {
        for (const patch of PATCHES) patch(event, client, refresher)
      },
    })
    setConnection(opened)
    void opened.run()
    return () => {
      opened.close()
      setConnection(null)
    }
  }, [client, id])
  return <Live value={connection}>{children}</Live>
}

export function useLive(): LiveConnection | null {
  return use(Live)
}
