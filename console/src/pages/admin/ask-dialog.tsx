import { Input } from 'antd'
import type { ReactNode } from 'react'
import { Dialog } from '../../parts/dialog/dialog.tsx'
import { DialogActions } from '../../parts/dialog/dialog-actions.tsx'
import { Field } from './field.tsx'
import { useWords } from './words.ts'

interface Props {
  title: string
  /** What the dialog is for. */
  action: string
  busy: boolean
  /** Whether everything that is needed is filled in. */
  fits: boolean
  onAction(): void
  onClose(): void
  children: ReactNode
}

/** Asks for what something new needs. */
export function AskDialog({ title, action, busy, fits, onAction, onClose, children }: Props) {
  const t = useWords()
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <DialogActions
          cancel={t('cancel')}
          onCancel={onClose}
          action={action}
          busy={busy}
          disabled={!fits}
          onAction={onAction}
        />
      }
    >
      {children}
    </Dialog>
  )
}

/** The name of something new, which is asked for first. */
export function NameField({
  label,
  hint,
  value,
  onChange,
  onEnter,
}: {
  label: string
  hint: string
  value: string
  onChange(value: string): void
  onEnter?: () => void
}) {
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <Input
          id={id}
          autoFocus
          maxLength={200}
          value={value}
          onChange={({ target }) => onChange(target.value)}
          {...(onEnter && { onPressEnter: onEnter })}
        />
      )}
    </Field>
  )
}
