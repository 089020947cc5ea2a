import { Form, Input, Select } from 'antd'
import { useTranslation } from 'react-i18next'
import type { DraftFields } from '../request/draft-fields.ts'
import { Fold } from './fold.tsx'
import { RowList } from './row-list.tsx'

const CHATS = ['slack', 'feishu', 'dingtalk', 'wecom'] as const
const MOST = 20

/** People and programs that are told when the file is ready. */
export function TellFields() {
  const { t } = useTranslation()
  const form = Form.useFormInstance()
  const chats = Form.useWatch('chats', { form, preserve: true }) as DraftFields['chats']
  const emails = Form.useWatch('emails', { form, preserve: true }) as DraftFields['emails']
  const count = (chats?.length ?? 0) + (emails?.length ?? 0)
  return (
    <Fold title={t('make.tell.title')} text={count > 0 ? t('make.tell.set', { count }) : t('make.tell.text')}>
      <Form.Item name="emails" label={t('make.tell.emails')} extra={t('make.tell.emails_hint')}>
        <Select
          aria-label={t('make.tell.emails')}
          mode="tags"
          open={false}
          suffixIcon={null}
          tokenSeparators={[',', ';', ' ']}
          maxCount={MOST}
          placeholder="anna@example.com"
        />
      </Form.Item>
      <span className="make-label">{t('make.tell.chats')}</span>
      <RowList
        name={['chats']}
        add={t('make.tell.add_chat')}
        first={{ kind: 'slack' }}
        remove={t('make.tell.chat')}
        most={MOST}
      >
        {({ name }) => (
          <>
            <Form.Item name={[name, 'kind']} noStyle>
              <Select
                aria-label={t('make.tell.chat_kind')}
                options={CHATS.map((value) => ({ value, label: t(`make.tell.chat_kinds.${value}`) }))}
              />
            </Form.Item>
            <Form.Item name={[name, 'url']} noStyle>
              <Input.Password
                aria-label={t('make.tell.chat_url')}
                autoComplete="new-password"
                placeholder={
                  chats?.[name]?.kept === undefined ? 'https://hooks.slack.com/…' : t('make.access.kept')
                }
              />
            </Form.Item>
          </>
        )}
      </RowList>
      <div className="make-pair make-gap">
        <Form.Item name="language" label={t('make.tell.language')}>
          <Select
            aria-label={t('make.tell.language')}
            allowClear
            placeholder={t('make.tell.both')}
            options={[
              { value: 'en', label: 'English' },
              { value: 'zh', label: '中文' },
            ]}
          />
        </Form.Item>
        <Form.Item
          name="callback"
          label={t('make.tell.callback')}
          rules={[{ type: 'url', message: t('make.url_wrong') }]}
        >
          <Input inputMode="url" placeholder="https://shop.example/hooks/wharf" />
        </Form.Item>
      </div>
    </Fold>
  )
}
