import { Store } from '../store.ts'
import mark from '../theme/mark.svg'

const KEPT_AS = 'wharf.notices'

/** A page without TLS may show none; nor may one whose reader has said no to the browser. */
export const canNotify = 'Notification' in window && window.isSecureContext

/** Whether the browser tells of the end of an export while the page is not looked at. */
export const notices = new Store(
  canNotify && localStorage.getItem(KEPT_AS) === 'on' && Notification.permission === 'granted',
)

/** Answers whether they are on now: the browser may refuse. */
export async function setNotices(on: boolean): Promise<boolean> {
  const allowed = on && (await Notification.requestPermission()) === 'granted'
  localStorage.setItem(KEPT_AS, allowed ? 'on' : 'off')
  notices.set(allowed)
  return allowed
}

/** The same `tag` in several tabs is one notice. */
export function notify(title: string, { tag, onOpen }: { tag: string; onOpen(): void }): void {
  const notice = new Notification(title, { tag, icon: mark })
  notice.onclick = () => {
    window.focus()
    notice.close()
    onOpen()
  }
}
