import { Button, InputNumber } from 'antd'
import { useState } from 'react'
import { changeProject, type ProjectDetails } from '../../api/admin.ts'
import { MayChange, useMayChange } from '../../live/may-change.tsx'
import { useFormat } from '../../parts/format.ts'
import { Panel } from '../../parts/panel.tsx'
import { useDeed } from './use-deed.ts'
import { useWords } from './words.ts'

const GIGABYTE = 1e9

type Standing = ProjectDetails['quotas'][number]

/** What a project may use. A new limit acts at once. */
export function QuotasPanel({ project }: { project: ProjectDetails }) {
  const t = useWords()
  return (
    <Panel title={t('quota.title')}>
      <p className="quiet">{t('quota.text')}</p>
      <div className="admin-quotas">
        {project.quotas.map((standing) => (
          <QuotaRow
            key={`${standing.quota} ${standing.limit}`}
            projectId={project.project_id}
            standing={standing}
          />
        ))}
      </div>
    </Panel>
  )
}

function QuotaRow({ projectId, standing }: { projectId: string; standing: Standing }) {
  const t = useWords()
  const format = useFormat()
  const { quota, limit, used } = standing
  const mayChange = useMayChange('admin')
  const unit = quota.includes('bytes') ? GIGABYTE : 1
  const [wanted, setWanted] = useState(limit)
  const save = useDeed(
    ['project', projectId],
    (value: number | null) => changeProject(projectId, { quotas: { [quota]: value } }),
    { said: t('saved') },
  )
  const amount = (value: number) => (quota.includes('bytes') ? format.bytes(value) : format.number(value))
  return (
    <div className="admin-quota">
      <label htmlFor={`quota-${quota}`}>
        {t(`quota.name.${quota}`)}
        <small>{t('quota.used', { used: amount(used) })}</small>
      </label>
      <InputNumber
        id={`quota-${quota}`}
        min={0}
        disabled={!mayChange}
        precision={unit === 1 ? 0 : 3}
        suffix={unit === 1 ? undefined : 'GB'}
        value={wanted === null ? null : wanted / unit}
        placeholder={t('quota.none')}
        onChange={(value) => setWanted(value === null ? null : Math.round(value * unit))}
        onPressEnter={() => save.mutate(wanted)}
      />
      <MayChange of="admin">
        <Button disabled={wanted === limit} loading={save.isPending} onClick={() => save.mutate(wanted)}>
          {t('save')}
        </Button>
      </MayChange>
    </div>
  )
}
