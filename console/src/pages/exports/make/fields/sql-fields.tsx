import { useQuery } from '@tanstack/react-query'
import { Alert, Form, Input, Select } from 'antd'
import { useTranslation } from 'react-i18next'
import { listConnections } from '../../../../api/saved.ts'
import { useProject } from '../../../../live/project.ts'
import { type DraftFields, PARAM_TYPES } from '../request/draft-fields.ts'
import { RowList } from './row-list.tsx'

/** A query on a database that the project may read. */
export function SqlFields() {
  const { t } = useTranslation()
  const projectId = useProject()?.project_id
  const form = Form.useFormInstance()
  const sql = Form.useWatch('sql', { form, preserve: true }) as DraftFields['sql']
  const { data } = useQuery({
    queryKey: ['connections', projectId],
    queryFn: ({ signal }) => listConnections(projectId as string, signal),
    enabled: projectId !== undefined,
  })
  const driver = data?.find(({ name }) => name === sql?.connection)?.driver
  const mark = driver === 'postgres' || driver === undefined ? '$1' : '?'
  return (
    <>
      {data?.length === 0 && <Alert type="info" showIcon title={t('make.sql.none')} className="make-note" />}
      <Form.Item
        name={['sql', 'connection']}
        label={t('make.sql.connection')}
        rules={[{ required: true, message: t('make.sql.connection_missing') }]}
      >
        <Select
          aria-label={t('make.sql.connection')}
          showSearch
          placeholder={t('make.sql.connection_choose')}
          options={(data ?? []).map(({ name, driver: kind }) => ({
            value: name,
            label: `${name} (${kind})`,
          }))}
        />
      </Form.Item>
      <Form.Item
        name={['sql', 'query']}
        label={t('make.sql.query')}
        extra={t('make.sql.query_hint', { mark })}
        rules={[{ required: true, message: t('make.sql.query_missing') }]}
      >
        <Input.TextArea
          rows={5}
          className="mono"
          spellCheck={false}
          placeholder={`select id, amount from orders where created_at >= ${mark}`}
        />
      </Form.Item>
      <span className="make-label">{t('make.sql.params')}</span>
      <RowList
        name={['sql', 'params']}
        add={t('make.sql.add_param')}
        first={{ type: 'text' }}
        remove={t('make.sql.param')}
      >
        {({ name }) => {
          const type = sql?.params?.[name]?.type
          return (
            <>
              <Form.Item name={[name, 'type']} noStyle>
                <Select
                  aria-label={t('make.sql.param_type')}
                  options={PARAM_TYPES.map((value) => ({ value, label: t(`make.sql.types.${value}`) }))}
                />
              </Form.Item>
              {(type === 'text' || type === 'number' || type === undefined) && (
                <Form.Item name={[name, 'value']} noStyle>
                  <Input aria-label={t('make.sql.param_value')} />
                </Form.Item>
              )}
            </>
          )
        }}
      </RowList>
    </>
  )
}
