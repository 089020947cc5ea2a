import { Select } from 'antd'
import { useTranslation } from 'react-i18next'
import { chooseOwnProject, session } from '../api/session.ts'
import { chooseProject, pinnedProject, useProject, useProjects } from '../live/project.ts'
import { useStore } from '../store.ts'
import './project-choice.css'

/** Which project is shown: a key's own name, a choice of those of a person, or for the admin one of all. */
export function ProjectChoice() {
  const { t } = useTranslation()
  const current = useStore(session)
  const project = useProject()
  const { data = [] } = useProjects()
  const isAdmin = current?.role === 'admin'
  const isPinned = useStore(pinnedProject) !== null
  const choices = isAdmin ? data : (current?.projects ?? [])
  if (isPinned || (!isAdmin && choices.length < 2))
    return (
      <span className="project-choice-name" title={project?.name}>
        {project?.name}
      </span>
    )
  return (
    <Select
      className="project-choice"
      aria-label={t('common.project')}
      placeholder={t('common.project')}
      value={project?.project_id ?? null}
      onChange={isAdmin ? chooseProject : chooseOwnProject}
      showSearch={{ optionFilterProp: 'label' }}
      options={choices.map(({ project_id, name }) => ({ value: project_id, label: name }))}
    />
  )
}
