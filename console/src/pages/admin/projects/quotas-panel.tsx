import { Button } from 'antd'
import { useState } from 'react'
import { changeProject, type ProjectDetails } from '../../../api/admin.ts'
import { MayChange, useMayChange } from '../../../live/may-change.tsx'
import { NumberField } from '../../../parts/field/number-field.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { useDeed } from '../use-deed.ts'
import { useWords } from '../words.ts'

/** Limits are set in powers of two, as sizes are shown. */
const GIBIBYTE = 2 ** 30

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
  const unit = quota.includes('bytes') ? GIBIBYTE : 1
  const [wanted, setWanted] = useState<number | null | undefined>(limit)
  // What was emptied becomes what the installation says, which is shown then.
  const [saves, setSaves] = useState(0)
  const save = useDeed(
    ['project', projectId],
    (value: number | null) => changeProject(projectId, { quotas: { [quota]: value } }),
    {
      said: t('saved'),
      onDone: (_, value) => {
        if (value !== null) return
        setWanted(limit)
        setSaves(saves + 1)
      },
    },
  )
  const submit = () => {
    if (wanted !== undefined && wanted !== limit) save.mutate(wanted)
  }
  const amount = (value: number) => (quota.includes('bytes') ? format.bytes(value) : format.number(value))
  return (
    <div className="admin-quota">
      <label htmlFor={`quota-${quota}`}>
        {t(`quota.name.${quota}`)}
        <small>{t('quota.used', { used: amount(used) })}</small>
      </label>
      <NumberField
        key={saves}
        id={`quota-${quota}`}
        least={0}
        places={unit === 1 ? 0 : 3}
        {...(unit !== 1 && { unit: 'GiB' })}
        disabled={!mayChange}
        value={limit === null ? null : limit / unit}
        placeholder={limit === null ? t('quota.none') : t('quota.usual')}
        onChange={(value) => setWanted(value && Math.round(value * unit))}
        onEnter={submit}
      />
      <MayChange of="admin">
        <Button disabled={wanted === undefined || wanted === limit} loading={save.isPending} onClick={submit}>
          {t('save')}
        </Button>
      </MayChange>
    </div>
  )
}
