import { SendOutlined } from '@ant-design/icons'
import { Alert, Button, Form, Input, InputNumber, Select } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { session } from '../../../api/session.ts'
import { askForDelivery, type Delivery, type RepositoryFile } from '../../../api/transfers.ts'
import { useMayChange } from '../../../live/may-change.tsx'
import { useMadeOnce } from '../../../live/use-once.ts'
import { BackLink } from '../../../parts/page/back-link.tsx'
import { EmptyState } from '../../../parts/page/empty-state.tsx'
import { MayNot } from '../../../parts/page/may-not.tsx'
import { PageHead } from '../../../parts/page/page-head.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProgressBar } from '../../../parts/table/progress-bar.tsx'
import { FailureText } from '../../../parts/text/failure.tsx'
import { useStore } from '../../../store.ts'
import { jobAddress } from '../address.ts'
import { useAgents } from '../list/agents-panel.tsx'
import { FileChoice } from './file-choice.tsx'
import { type SendOutcome, sendAll } from './send-all.ts'
import '../transfers.css'

interface Fields {
  file: RepositoryFile
  agents: string[]
  directory: string
  user?: string
  biz_id: number
  app_id: number
}

/** Files and deliveries belong to projects: the admin has none of their own. */
export function NewDeliveryPage() {
  const { t } = useTranslation()
  const isAdmin = useStore(session)?.role === 'admin'
  const mayChange = useMayChange('transfers')
  return (
    <>
      <BackLink href="/transfers">{t('transfers.title')}</BackLink>
      <PageHead title={t('transfers.new.title')} text={t('transfers.new.text')} />
      <Panel>
        {isAdmin ? (
          <EmptyState title={t('transfers.new.admin.title')} text={t('transfers.new.admin.text')} />
        ) : mayChange ? (
          <DeliveryForm />
        ) : (
          <MayNot />
        )}
      </Panel>
    </>
  )
}

/** A file to chosen agents: each agent is one request, and they share one window. */
function DeliveryForm() {
  const { t } = useTranslation()
  const [, go] = useLocation()
  const [form] = Form.useForm<Fields>()
  const file = Form.useWatch('file', form) as RepositoryFile | undefined
  const chosen = (Form.useWatch('agents', form) as string[] | undefined) ?? []
  const { data: agents = [] } = useAgents()
  const deliver = useMadeOnce(askForDelivery)
  const [sending, setSending] = useState<{ done: number; of: number } | null>(null)
  const [failed, setFailed] = useState<SendOutcome['failed']>([])
  const known = agents.map(({ agent_id, container_id }) => ({
    value: JSON.stringify([agent_id, container_id]),
    label: container_id === '' ? agent_id : `${agent_id}:${container_id}`,
  }))

  const send = async (fields: Fields) => {
    const deliveries = fields.agents.map((key) => deliveryOf(fields, key))
    setFailed([])
    setSending({ done: 0, of: deliveries.length })
    const outcome = await sendAll(deliveries, deliver, (done) => setSending({ done, of: deliveries.length }))
    setSending(null)
    setFailed(outcome.failed)
    if (outcome.jobId !== null && outcome.failed.length === 0) go(jobAddress(outcome.jobId))
  }

  return (
    <Form
      form={form}
      layout="vertical"
      requiredMark={false}
      className="delivery-form"
      initialValues={{ biz_id: 1, app_id: 1, agents: [] }}
      onFinish={(fields: Fields) => void send(fields)}
    >
      <Form.Item
        name="file"
        label={t('transfers.new.file')}
        rules={[{ required: true, message: t('transfers.new.file_missing') }]}
      >
        <FileChoice file={file ?? null} onChoose={(next) => form.setFieldValue('file', next)} />
      </Form.Item>
      <Form.Item
        name="agents"
        label={t('transfers.new.agents')}
        extra={
          <span className="delivery-agents-extra">
            {t('transfers.new.agents_hint', { count: chosen.length })}
            <Button
              size="small"
              type="link"
              disabled={known.length === 0}
              onClick={() =>
                form.setFieldValue(
                  'agents',
                  known.map(({ value }) => value),
                )
              }
            >
              {t('transfers.new.all_agents', { count: known.length })}
            </Button>
          </span>
        }
        rules={[{ required: true, type: 'array', message: t('transfers.new.agents_missing') }]}
      >
        <Select
          mode="tags"
          // An empty list is not opened: there is nothing in it that could be read out.
          notFoundContent={null}
          maxTagCount={20}
          tokenSeparators={[',', ' ', '\n']}
          placeholder={t('transfers.new.agents_placeholder')}
          options={known}
        />
      </Form.Item>
      <div className="delivery-pairs">
        <Form.Item
          name="directory"
          label={t('transfers.new.directory')}
          rules={[{ required: true, whitespace: true, message: t('transfers.new.directory_missing') }]}
        >
          <Input placeholder="/opt/app" autoComplete="off" />
        </Form.Item>
        <Form.Item name="user" label={t('transfers.new.user')}>
          <Input placeholder={t('transfers.new.user_placeholder')} autoComplete="off" />
        </Form.Item>
        <Form.Item name="biz_id" label={t('transfers.new.biz_id')} rules={[{ required: true }]}>
          <InputNumber min={0} max={4_294_967_295} precision={0} />
        </Form.Item>
        <Form.Item name="app_id" label={t('transfers.new.app_id')} rules={[{ required: true }]}>
          <InputNumber min={0} max={4_294_967_295} precision={0} />
        </Form.Item>
      </div>
      {failed.length > 0 && <Refused failed={failed} />}
      {sending && (
        <div className="delivery-sending" role="status">
          <ProgressBar label={t('transfers.new.sending', sending)} fraction={sending.done / sending.of} />
          <span className="transfers-sub">{t('transfers.new.sending', sending)}</span>
        </div>
      )}
      <Button type="primary" htmlType="submit" icon={<SendOutlined />} loading={sending !== null}>
        {t('transfers.new.send')}
      </Button>
    </Form>
  )
}

function Refused({ failed }: { failed: SendOutcome['failed'] }) {
  const { t } = useTranslation()
  return (
    <Alert
      type="error"
      role="alert"
      className="delivery-refused"
      title={t('transfers.new.refused', { count: failed.length })}
      description={
        <ul>
          {failed.slice(0, 20).map(({ agent, error }) => (
            <li key={agent}>
              <b>{agent}</b> <FailureText error={error} />
            </li>
          ))}
        </ul>
      }
    />
  )
}

/** A choice has agent and container apart, for either may hold a colon. What was typed is parted at its last one. */
function targetOf(choice: string): [agent: string, container: string] {
  if (choice.startsWith('["') && choice.endsWith('"]')) {
    const [agent, container] = JSON.parse(choice) as [string, string]
    return [agent, container]
  }
  const colon = choice.lastIndexOf(':')
  return colon < 0 ? [choice, ''] : [choice.slice(0, colon), choice.slice(colon + 1)]
}

function deliveryOf({ file, directory, user, biz_id, app_id }: Fields, choice: string): Delivery {
  const slash = file.path.lastIndexOf('/')
  const [agent, container] = targetOf(choice)
  return {
    biz_id,
    app_id,
    file_path: `/${file.path.slice(0, Math.max(0, slash))}`,
    file_name: file.path.slice(slash + 1),
    file_signature: file.signature,
    target_agent_id: agent,
    target_container_id: container,
    target_user: user?.trim() ?? '',
    target_file_dir: directory.trim(),
  }
}
