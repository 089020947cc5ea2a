import { CaretRightOutlined, CloseOutlined, PauseOutlined } from '@ant-design/icons'
import { Button, Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import { Panel } from '../../parts/page/panel.tsx'
import { Pill, type Tone } from '../../parts/table/pill.tsx'
import { ProgressBar } from '../../parts/table/progress-bar.tsx'
import { FailureText } from '../../parts/text/failure.tsx'
import { useFormat } from '../../parts/text/format.ts'
import { useStore } from '../../store.ts'
import { type UploadView, uploads } from './upload-list.ts'

const TONES: Record<UploadView['state'], Tone> = {
  uploading: 'busy',
  waiting: 'warn',
  paused: 'wait',
  failed: 'bad',
}

/** Uploads that have not arrived yet. */
export function UploadsPanel() {
  const { t } = useTranslation()
  const views = useStore(uploads.views)
  if (views.length === 0) return null
  return (
    <Panel title={t('processing.uploads')}>
      <ul className="uploads">
        {views.map((view) => (
          <UploadRow key={view.id} view={view} />
        ))}
      </ul>
    </Panel>
  )
}

function UploadRow({ view }: { view: UploadView }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { id, fileName, size, sent, state, error, resumedAt } = view
  const perSecond = state === 'uploading' ? uploads.rates.perSecond(String(id)) : null
  const told = [
    t('processing.uploaded', { sent: format.bytes(sent), total: format.bytes(size) }),
    perSecond !== null && t('processing.rate', { rate: format.bytes(perSecond) }),
    perSecond && t('processing.left', { time: format.duration(((size - sent) / perSecond) * 1_000) }),
    resumedAt !== null && t('processing.resumed', { sent: format.bytes(resumedAt) }),
  ].filter((text) => typeof text === 'string')
  return (
    <li data-upload={fileName}>
      <span className="uploads-name">{fileName}</span>
      <Pill tone={TONES[state]}>{t(`processing.upload_state.${state}`)}</Pill>
      <span className="uploads-actions">
        {(state === 'uploading' || state === 'waiting') && (
          <Action name="pause" file={fileName} icon={<PauseOutlined />} onClick={() => uploads.pause(id)} />
        )}
        {state === 'paused' && (
          <Action
            name="resume"
            file={fileName}
            icon={<CaretRightOutlined />}
            onClick={() => uploads.resume(id)}
          />
        )}
        <Action name="give_up" file={fileName} icon={<CloseOutlined />} onClick={() => uploads.giveUp(id)} />
      </span>
      <div className="uploads-progress">
        <ProgressBar label={fileName} fraction={size === 0 ? null : sent / size} />
        <span className="processing-sub">{told.join(' · ')}</span>
        {error !== null && (
          <span className="processing-sub processing-error">
            <FailureText error={error} />
          </span>
        )}
      </div>
    </li>
  )
}

function Action({
  name,
  file,
  icon,
  onClick,
}: {
  name: 'pause' | 'resume' | 'give_up'
  file: string
  icon: React.ReactNode
  onClick(): void
}) {
  const { t } = useTranslation()
  const action = t(`processing.action.${name}`)
  return (
    <Tooltip title={action}>
      <Button
        type="text"
        size="small"
        icon={icon}
        aria-label={t('processing.of_file', { action, file })}
        onClick={onClick}
      />
    </Tooltip>
  )
}
