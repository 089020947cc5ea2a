import { Form, Input, Select } from 'antd'
import { useTranslation } from 'react-i18next'
import type { AuthField, SecretField, SourceKind } from '../request/draft-fields.ts'
import { Fold } from './fold.tsx'
import { RowList } from './row-list.tsx'

/** How the source knows that it may answer: headers, a password or a token. None of it is ever shown again. */
export function AccessFields({ kind }: { kind: SourceKind }) {
  const { t } = useTranslation()
  const form = Form.useFormInstance()
  const auth = Form.useWatch('auth', { form, preserve: true }) as AuthField | undefined
  const headers = Form.useWatch('headers', { form, preserve: true }) as SecretField[] | undefined
  const kept = auth?.kept === undefined ? undefined : t('make.access.kept')
  const count = (headers?.length ?? 0) + (auth && auth.kind !== 'none' ? 1 : 0)
  return (
    <Fold
      title={t('make.access.title')}
      text={count > 0 ? t('make.access.set', { count }) : t('make.access.text')}
    >
      {kind !== 'sheets' && (
        <Form.Item name={['auth', 'kind']} label={t('make.access.auth')} initialValue="none">
          <Select
            aria-label={t('make.access.auth')}
            options={(['none', 'basic', 'oauth2'] as const).map((value) => ({
              value,
              label: t(`make.access.kind.${value}`),
            }))}
          />
        </Form.Item>
      )}
      {kind !== 'sheets' && auth?.kind === 'basic' && (
        <div className="make-pair">
          <Form.Item
            name={['auth', 'username']}
            label={t('make.access.username')}
            rules={[{ required: true, message: t('make.needed') }]}
          >
            <Input autoComplete="off" />
          </Form.Item>
          <Form.Item name={['auth', 'password']} label={t('make.access.password')}>
            <Input.Password autoComplete="new-password" placeholder={kept} />
          </Form.Item>
        </div>
      )}
      {kind !== 'sheets' && auth?.kind === 'oauth2' && (
        <>
          <Form.Item
            name={['auth', 'token_url']}
            label={t('make.access.token_url')}
            rules={[{ required: true, type: 'url', message: t('make.url_wrong') }]}
          >
            <Input inputMode="url" placeholder="https://login.example/oauth2/token" />
          </Form.Item>
          <div className="make-pair">
            <Form.Item
              name={['auth', 'client_id']}
              label={t('make.access.client_id')}
              rules={[{ required: true, message: t('make.needed') }]}
            >
              <Input autoComplete="off" />
            </Form.Item>
            <Form.Item name={['auth', 'client_secret']} label={t('make.access.client_secret')}>
              <Input.Password autoComplete="new-password" placeholder={kept} />
            </Form.Item>
          </div>
          <Form.Item name={['auth', 'scope']} label={t('make.access.scope')}>
            <Input />
          </Form.Item>
        </>
      )}
      <span className="make-label">{t('make.access.headers')}</span>
      <RowList name={['headers']} add={t('make.access.add_header')} remove={t('make.access.header')}>
        {({ name }) => (
          <>
            <Form.Item name={[name, 'name']} noStyle>
              <Input aria-label={t('make.access.header_name')} placeholder="Authorization" />
            </Form.Item>
            <Form.Item name={[name, 'value']} noStyle>
              <Input.Password
                aria-label={t('make.access.header_value')}
                autoComplete="new-password"
                placeholder={headers?.[name]?.kept === undefined ? 'Bearer …' : t('make.access.kept')}
              />
            </Form.Item>
          </>
        )}
      </RowList>
    </Fold>
  )
}
