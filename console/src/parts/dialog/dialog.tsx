import { CloseOutlined } from '@ant-design/icons'
import { Button, ConfigProvider } from 'antd'
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import './dialog.css'

const FIELDS = 'input, textarea, select, [contenteditable="true"]'

/** The first field is what a dialog is for; without one, the first button below: the one that changes nothing. */
function focusFirst(dialog: HTMLDialogElement): void {
  const fields = [...dialog.querySelectorAll<HTMLInputElement>(`.dialog-body :is(${FIELDS})`)]
  const field = fields.find((one) => !one.disabled && one.type !== 'hidden')
  const target = field ?? dialog.querySelector<HTMLElement>('.dialog-foot button, .dialog-body')
  target?.focus()
}

/** Escape closes a list that is open, and the dialog only with the next one. */
function closeListFirst(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || !(event.currentTarget instanceof Element)) return
  if (event.currentTarget.querySelector('[role="combobox"][aria-expanded="true"]')) event.preventDefault()
}

/**
 * The browser's own dialog: it keeps the focus inside, closes with Escape, and needs no style that the page's policy
 * would refuse, as antd's does when it stops the page behind it from scrolling.
 */
export function Dialog({
  title,
  onClose,
  footer,
  children,
}: {
  title: string
  onClose(): void
  footer?: ReactNode
  children: ReactNode
}) {
  const { t } = useTranslation()
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  // Closed while it is still on the page: the browser then gives the focus back to what opened it.
  useLayoutEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    if (opened) focusFirst(opened)
    opened?.addEventListener('keydown', closeListFirst, { capture: true })
    return () => opened?.close()
  }, [])
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={id} onCancel={onClose}>
      {/* Lists that open must be in here: beneath a dialog nothing can be reached. */}
      <ConfigProvider getPopupContainer={() => dialog.current ?? document.body}>
        <div className="dialog-head">
          <h2 id={id}>{title}</h2>
          <Button type="text" icon={<CloseOutlined />} aria-label={t('common.close')} onClick={onClose} />
        </div>
        <div className="dialog-body" tabIndex={-1}>
          {children}
        </div>
        {footer && <div className="dialog-foot">{footer}</div>}
      </ConfigProvider>
    </dialog>
  )
}
