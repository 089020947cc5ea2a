import { CheckOutlined, CopyOutlined } from '@ant-design/icons'
import { Button, Tooltip } from 'antd'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { copyText } from './copy-text.ts'
import './copy-button.css'
import { useToasts } from '../dialog/toasts.tsx'

const SHOWN_MS = 2_000

/** Puts `text` into the clipboard. `name` says what it is, for those who only hear it: "SHA-256". */
export function CopyButton({ text, name }: { text: string; name: string }) {
  const { t } = useTranslation()
  const toasts = useToasts()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <Tooltip title={t(copied ? 'common.copy.copied' : 'common.copy.copy')}>
      <Button
        type="text"
        size="small"
        className="copy-button"
        icon={copied ? <CheckOutlined /> : <CopyOutlined />}
        aria-label={t(copied ? 'common.copy.copied_what' : 'common.copy.copy_what', { what: name })}
        onClick={() => void copyText(text).then(() => setCopied(true), toasts.problem)}
      />
    </Tooltip>
  )
}

/** An id, hash or address, with the button that copies it. */
export function Copyable({ text, name }: { text: string; name: string }) {
  return (
    <span className="copyable">
      <code>{text}</code>
      <CopyButton text={text} name={name} />
    </span>
  )
}
