import { session } from '../api/session.ts'

/** All tabs share one cookie: when one signs in or out, the others must not go on in an old name. */
export function watchOtherTabs(): void {
  const tabs = new BroadcastChannel('wharf.session')
  const mine = () => session.get()?.id ?? null
  session.subscribe(() => tabs.postMessage(mine()))
  tabs.onmessage = ({ data }: MessageEvent<string | null>) => {
    if (session.get() !== undefined && data !== mine()) window.location.reload()
  }
}
