import { Button } from 'antd'

interface Props {
  cancel: string
  onCancel(): void
  /** What the dialog is for. */
  action: string
  onAction(): void
  busy: boolean
  disabled: boolean
}

/** The two buttons below a dialog that asks for something. */
export function DialogActions({ cancel, onCancel, action, onAction, busy, disabled }: Props) {
  return (
    <>
      <Button onClick={onCancel}>{cancel}</Button>
      <Button type="primary" loading={busy} disabled={disabled} onClick={onAction}>
        {action}
      </Button>
    </>
  )
}
