import {
  CheckCircleFilled,
  CloseCircleFilled,
  CloseOutlined,
  ExclamationCircleFilled,
} from '@ant-design/icons'
import { type ReactNode, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { Store, useStore } from '../../store.ts'
import { LongText } from '../text/long-text.tsx'
import { useProblemText } from '../text/problem-text.ts'
import './toasts.css'

const ICONS = { ok: CheckCircleFilled, warn: ExclamationCircleFilled, bad: CloseCircleFilled }
const SHOWN_MS = { ok: 4_000, warn: 8_000, bad: 8_000 }

interface Toast {
  id: number
  tone: keyof typeof ICONS
  content: ReactNode
}

const shown = new Store<readonly Toast[]>([])
let lastId = 0

function show(tone: Toast['tone'], content: ReactNode): void {
  shown.set([...shown.get(), { id: ++lastId, tone, content }])
}

function hide(id: number): void {
  shown.set(shown.get().filter((toast) => toast.id !== id))
}

/** Short words about what was just done, above everything else, dialogs included. */
export function Toasts() {
  const place = useRef<HTMLDivElement>(null)
  const toasts = useStore(shown)
  const newest = toasts.at(-1)?.id
  useEffect(() => {
    // What is shown last is uppermost: a dialog may have been opened since.
    place.current?.hidePopover()
    if (newest !== undefined) place.current?.showPopover()
  }, [newest])
  return (
    <div ref={place} className="toasts" popover="manual" role="status">
      {toasts.map((toast) => (
        <OneToast key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

function OneToast({ toast: { id, tone, content } }: { toast: Toast }) {
  const { t } = useTranslation()
  const Icon = ICONS[tone]
  useEffect(() => {
    const timer = setTimeout(() => hide(id), SHOWN_MS[tone])
    return () => clearTimeout(timer)
  }, [id, tone])
  return (
    <div className="toast" data-tone={tone}>
      <Icon aria-hidden="true" />
      <div className="toast-words">{content}</div>
      <button type="button" className="toast-close" aria-label={t('common.close')} onClick={() => hide(id)}>
        <CloseOutlined />
      </button>
    </div>
  )
}

export function useToasts() {
  const words = useProblemText()
  return {
    success: (text: string) => show('ok', text),
    warning: (text: string) => show('warn', text),
    problem(error: unknown) {
      const { title, detail, code } = words(error)
      show(
        'bad',
        <>
          {title}
          <small>
            <LongText text={detail} /> ({code})
          </small>
        </>,
      )
    },
  }
}
