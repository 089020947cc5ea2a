import { Select } from 'antd'
import { useTranslation } from 'react-i18next'
import { session } from '../api/session.ts'
import { chooseProject, useProject, useProjects } from '../live/project.ts'
import { useStore } from '../live/store.ts'
import './project-choice.css'

/** Which project is shown: a key's own name, or for the admin a choice of all. */
export function ProjectChoice() {
  const { t } = useTranslation()
  const isAdmin = useStore(session)?.role === 'admin'
  const project = useProject()
  const { data = [] } = useProjects()
  if (!isAdmin) return <span className="project-choice-name">{project?.name}</span>
  return (
    <Select
      className="project-choice"
      aria-label={t('common.project')}
      placeholder={t('common.project')}
      value={project?.project_id ?? null}
      onChange={chooseProject}
      showSearch={{ optionFilterProp: 'label' }}
      options={data.map(({ project_id, name }) => ({ value: project_id, label: name }))}
    />
  )
}
