import { useQueryClient } from '@tanstack/react-query'
import { Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { deleteAccount } from '../../../api/runs.ts'
import { useOnce } from '../../../live/use-once.ts'
import { Dialog } from '../../../parts/dialog/dialog.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { RUNS_KEY } from '../patch.ts'

export function DeleteDialog({
  handle,
  onClose,
  onDeleted,
}: {
  handle: string
  onClose(): void
  onDeleted?(): void
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const remove = useOnce({
    mutationFn: () => deleteAccount(handle),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: RUNS_KEY })
      onClose()
      onDeleted?.()
    },
  })
  return (
    <Dialog
      title={t('runs.delete.title', { handle })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('runs.form.back')}</Button>
          <Button danger type="primary" loading={remove.isPending} onClick={() => remove.mutate()}>
            {t('runs.action.delete')}
          </Button>
        </>
      }
    >
      <p>{t('runs.delete.text')}</p>
      {remove.error && <ProblemNote error={remove.error} />}
    </Dialog>
  )
}
