import { forgetTab, isForgotten, session } from '../api/session.ts'

/** All tabs share one cookie: when one signs in or out, the others must not go on in an old name. */
export function watchOtherTabs(): void {
  const tabs = new BroadcastChannel('wharf.session')
  const mine = () => session.get()?.id ?? null
  session.subscribe(() => tabs.postMessage({ id: mine(), forget: isForgotten() }))
  tabs.onmessage = ({ data }: MessageEvent<{ id: string | null; forget: boolean }>) => {
    if (session.get() === undefined || data.id === mine()) return
    if (data.forget) forgetTab()
    window.location.reload()
  }
}
