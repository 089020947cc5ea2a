import {
  CaretRightOutlined,
  CopyOutlined,
  DeleteOutlined,
  EditOutlined,
  MoreOutlined,
  SnippetsOutlined,
  StepForwardOutlined,
  StopOutlined,
} from '@ant-design/icons'
import { Button, Dropdown, Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import type { Account } from '../../api/runs.ts'
import { useMayChange } from '../../live/may-change.tsx'
import { useStore } from '../../store.ts'
import { copiedSettings } from './edit/copied-settings.ts'
import { useRunActions } from './use-run-actions.ts'

/** Start, continue, stop; and what may be done to the account itself while nothing runs. */
export function RowActions({
  account,
  onEdit,
  onDelete,
}: {
  account: Account
  onEdit(): void
  onDelete(): void
}) {
  const { t } = useTranslation()
  const { start, cancel } = useRunActions(account)
  const { handle, locked, state } = account
  const why = locked ? t(`runs.locked.${state === 'Running' ? 'running' : 'queued'}`) : ''
  if (!useMayChange('runs')) return null
  return (
    <span className="runs-actions">
      {(['start', 'continue'] as const).map((kind) => (
        // Beside it, in its own row: above or below it would hide the buttons of another.
        <Tooltip key={kind} placement="left" title={why || t(`runs.hint.${kind}`)}>
          <Button
            size="small"
            type={kind === 'start' ? 'primary' : 'default'}
            ghost={kind === 'start'}
            icon={kind === 'start' ? <CaretRightOutlined /> : <StepForwardOutlined />}
            disabled={locked || start.isPending}
            loading={start.isPending && start.variables === kind}
            onClick={() => start.mutate(kind)}
            aria-label={t('runs.of_account', { action: t(`runs.action.${kind}`), handle })}
          >
            {t(`runs.action.${kind}`)}
          </Button>
        </Tooltip>
      ))}
      <StopButton account={account} busy={cancel.isPending} onStop={(files) => cancel.mutate(files)} />
      <MoreButton account={account} why={why} onEdit={onEdit} onDelete={onDelete} />
    </span>
  )
}

/** A queued run has no files yet; of a running one they may be kept or deleted. */
function StopButton({
  account: { handle, locked, state },
  busy,
  onStop,
}: {
  account: Account
  busy: boolean
  onStop(files: 'keep' | 'delete'): void
}) {
  const { t } = useTranslation()
  const button = (onClick?: () => void) => (
    <Button
      size="small"
      danger
      icon={<StopOutlined />}
      disabled={!locked}
      loading={busy}
      {...(onClick && { onClick })}
      aria-label={t('runs.of_account', { action: t('runs.action.cancel'), handle })}
    >
      {t('runs.action.cancel')}
    </Button>
  )
  if (state !== 'Running') return button(() => onStop('keep'))
  return (
    <Dropdown
      trigger={['click']}
      menu={{
        items: [
          { key: 'keep', label: t('runs.cancel.keep') },
          { key: 'delete', label: t('runs.cancel.delete'), danger: true },
        ],
        onClick: ({ key }) => onStop(key === 'delete' ? 'delete' : 'keep'),
      }}
    >
      {button()}
    </Dropdown>
  )
}

function MoreButton({
  account,
  why,
  onEdit,
  onDelete,
}: {
  account: Account
  why: string
  onEdit(): void
  onDelete(): void
}) {
  const { t } = useTranslation()
  const { paste } = useRunActions(account)
  const copied = useStore(copiedSettings)
  const { handle, params, locked } = account
  const title = (text: string) => <span title={why || undefined}>{text}</span>
  return (
    <Dropdown
      trigger={['click']}
      menu={{
        items: [
          { key: 'edit', icon: <EditOutlined />, label: title(t('runs.action.edit')), disabled: locked },
          { key: 'copy', icon: <CopyOutlined />, label: t('runs.action.copy') },
          {
            key: 'paste',
            icon: <SnippetsOutlined />,
            label: title(
              copied ? t('runs.action.paste_from', { handle: copied.from }) : t('runs.action.paste'),
            ),
            disabled: locked || copied === null,
          },
          { type: 'divider' },
          {
            key: 'delete',
            icon: <DeleteOutlined />,
            label: title(t('runs.action.delete')),
            danger: true,
            disabled: locked,
          },
        ],
        onClick: ({ key }) => {
          if (key === 'edit') onEdit()
          if (key === 'copy') copiedSettings.set({ from: handle, params })
          if (key === 'paste' && copied) paste.mutate(copied.params)
          if (key === 'delete') onDelete()
        },
      }}
    >
      <Button
        size="small"
        type="text"
        icon={<MoreOutlined />}
        aria-label={t('runs.of_account', { action: t('runs.action.more'), handle })}
      />
    </Dropdown>
  )
}
