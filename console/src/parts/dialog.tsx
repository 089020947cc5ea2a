import { CloseOutlined } from '@ant-design/icons'
import { Button, ConfigProvider } from 'antd'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import './dialog.css'

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
  footer: ReactNode
  children: ReactNode
}) {
  const { t } = useTranslation()
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opened = dialog.current
    opened?.showModal()
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
        <div className="dialog-body">{children}</div>
        <div className="dialog-foot">{footer}</div>
      </ConfigProvider>
    </dialog>
  )
}
