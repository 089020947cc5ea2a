import { Alert, Button } from 'antd'
import { Dialog } from '../../../parts/dialog/dialog.tsx'
import { Copyable } from '../../../parts/text/copy-button.tsx'
import { useWords } from '../words.ts'

/** Keys and tokens that are shown this once. */
export function SecretDialog({
  title,
  secrets,
  note,
  onClose,
}: {
  title: string
  secrets: readonly { name: string; value: string }[]
  note?: string
  onClose(): void
}) {
  const t = useWords()
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <Button type="primary" onClick={onClose}>
          {t('secret.done')}
        </Button>
      }
    >
      <Alert type="warning" showIcon title={t('secret.once')} description={note} />
      <dl className="admin-secrets">
        {secrets.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Copyable text={value} name={name} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
