import { DeleteOutlined, PlusOutlined } from '@ant-design/icons'
import { Button, Input, Select } from 'antd'
import { useState } from 'react'
import { changeProject, type ProjectDetails } from '../../../api/admin.ts'
import { MASKS } from '../../../api/exports.ts'
import { MayChange, useMayChange } from '../../../live/may-change.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { useDeed } from '../use-deed.ts'
import { useWords } from '../words.ts'

type Masks = ProjectDetails['masks']
type Mask = Masks[string]

/** Columns that no file of the project shows as they are, whatever a template says. */
export function MasksPanel({ project }: { project: ProjectDetails }) {
  const t = useWords()
  const { project_id, masks } = project
  const mayChange = useMayChange('admin')
  const [column, setColumn] = useState('')
  const [mask, setMask] = useState<Mask>('last4')
  const save = useDeed(['project', project_id], (next: Masks) => changeProject(project_id, { masks: next }), {
    said: t('saved'),
  })
  const add = () => {
    if (!column.trim()) return
    save.mutate({ ...masks, [column.trim()]: mask })
    setColumn('')
  }
  const options = MASKS.map((value) => ({ value, label: t(`mask.kind.${value}`) }))
  return (
    <Panel title={t('mask.title')}>
      <p className="quiet">{t('mask.text')}</p>
      {Object.entries(masks).map(([name, kind]) => (
        <div key={name} className="admin-mask">
          <code>{name}</code>
          <Select
            aria-label={`${t('mask.how')}: ${name}`}
            value={kind}
            disabled={!mayChange}
            options={options}
            onChange={(next) => save.mutate({ ...masks, [name]: next })}
          />
          <MayChange of="admin">
            <Button
              type="text"
              danger
              icon={<DeleteOutlined />}
              aria-label={`${t('mask.remove')}: ${name}`}
              onClick={() =>
                save.mutate(Object.fromEntries(Object.entries(masks).filter(([one]) => one !== name)))
              }
            />
          </MayChange>
        </div>
      ))}
      <MayChange of="admin">
        {' '}
        <div className="admin-mask">
          <Input
            aria-label={t('mask.column')}
            placeholder={t('mask.column')}
            maxLength={200}
            value={column}
            onChange={({ target }) => setColumn(target.value)}
            onPressEnter={add}
          />
          <Select aria-label={t('mask.how')} value={mask} options={options} onChange={setMask} />
          <Button icon={<PlusOutlined />} disabled={!column.trim()} loading={save.isPending} onClick={add}>
            {t('mask.add')}
          </Button>
        </div>
      </MayChange>{' '}
    </Panel>
  )
}
