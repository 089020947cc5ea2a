import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useState } from 'react'
import { Link } from 'wouter'
import { getState, setMaxConcurrent } from '../../api/runs.ts'
import { MayChange, useMayChange } from '../../live/may-change.tsx'
import { NumberField } from '../../parts/field/number-field.tsx'
import { Panel } from '../../parts/page/panel.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { useDeed } from './use-deed.ts'
import { useWords } from './words.ts'

/** What can be changed while the installation runs; everything else is said at its start. */
export function SettingsPage() {
  const t = useWords()
  const { data, error } = useQuery({ queryKey: ['runs-limit'], queryFn: ({ signal }) => getState(signal) })
  return (
    <>
      <Panel title={t('setting.limits')}>
        <p className="quiet">{t('setting.text')}</p>
        {error && <ProblemNote error={error} />}
        {data && <RunsAtOnce key={data.max_concurrent} value={data.max_concurrent} />}
      </Panel>
      <Panel title={t('setting.others')}>
        <p>
          <Link href="/admin/projects">{t('setting.quotas')}</Link>
        </p>
        <p className="quiet">{t('setting.environment')}</p>
      </Panel>
    </>
  )
}

function RunsAtOnce({ value }: { value: number }) {
  const t = useWords()
  const mayChange = useMayChange('admin')
  const [wanted, setWanted] = useState<number | null | undefined>(value)
  const save = useDeed(['runs-limit'], setMaxConcurrent, { said: t('saved') })
  const isNew = typeof wanted === 'number' && wanted !== value
  const submit = () => isNew && save.mutate(wanted)
  return (
    <div className="admin-quota">
      <label htmlFor="setting-runs">
        {t('setting.runs_at_once')}
        <small>{t('setting.runs_at_once_text')}</small>
      </label>
      <NumberField
        id="setting-runs"
        least={1}
        most={1_000}
        disabled={!mayChange}
        value={value}
        onChange={setWanted}
        onEnter={submit}
      />
      <MayChange of="admin">
        <Button disabled={!isNew} loading={save.isPending} onClick={submit}>
          {t('save')}
        </Button>
      </MayChange>
    </div>
  )
}
