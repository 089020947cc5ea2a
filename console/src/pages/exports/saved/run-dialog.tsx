import { Button, Input } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SavedParameters } from '../../../api/saved.ts'
import { Dialog } from '../../../parts/dialog/dialog.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'

/** Runs a saved export with other values than its own. */
export function RunDialog({
  parameters,
  isRunning,
  error,
  onRun,
  onClose,
}: {
  parameters: SavedParameters
  isRunning: boolean
  error: unknown
  onRun(parameters: SavedParameters): void
  onClose(): void
}) {
  const { t } = useTranslation()
  const [values, setValues] = useState<Record<string, string>>({})
  return (
    <Dialog
      title={t('make.saved.run')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('make.cancel')}</Button>
          <Button type="primary" loading={isRunning} onClick={() => onRun(changedOf(values))}>
            {t('make.saved.run')}
          </Button>
        </>
      }
    >
      <p className="make-hint">{t('make.saved.run_text')}</p>
      <div className="saved-parameters">
        {Object.entries(parameters).map(([name, value]) => (
          <label key={name} htmlFor={`parameter-${name}`}>
            {name}
            <Input
              id={`parameter-${name}`}
              placeholder={String(value ?? '')}
              value={values[name] ?? ''}
              onChange={({ target }) => setValues({ ...values, [name]: target.value })}
            />
          </label>
        ))}
      </div>
      {error ? <ProblemNote error={error} /> : null}
    </Dialog>
  )
}

/** What was left empty keeps its own value. */
function changedOf(values: Record<string, string>): SavedParameters {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}
