import { useQueryClient } from '@tanstack/react-query'
import { Button, Form, Input, InputNumber, Select } from 'antd'
import { useTranslation } from 'react-i18next'
import { type Account, type AccountParams, putAccount } from '../../../api/runs.ts'
import { useOnce } from '../../../live/use-once.ts'
import { Dialog } from '../../../parts/dialog/dialog.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { RUNS_KEY } from '../patch.ts'
import { isWebAddress } from './parse-accounts.ts'

type Fields = { handle: string; url: string } & { [K in keyof AccountParams]?: AccountParams[K] | null }

/** Makes an account, or changes one. */
export function AccountForm({ account, onClose }: { account: Account | null; onClose(): void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [form] = Form.useForm<Fields>()
  const save = useOnce({
    mutationFn: ({ handle, url, ...params }: Fields) =>
      putAccount(handle.trim(), url.trim(), given(inBytes(params))),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: RUNS_KEY })
      onClose()
    },
  })
  return (
    <Dialog
      title={account ? t('runs.form.edit', { handle: account.handle }) : t('runs.form.add')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('runs.form.back')}</Button>
          <Button type="primary" loading={save.isPending} onClick={() => form.submit()}>
            {t('runs.form.save')}
          </Button>
        </>
      }
    >
      <Form
        form={form}
        layout="vertical"
        requiredMark={false}
        initialValues={
          account ? { handle: account.handle, url: account.url, ...inMebibytes(account.params) } : {}
        }
        onFinish={(fields: Fields) => save.mutate(fields)}
      >
        <Form.Item
          name="handle"
          label={t('runs.form.handle')}
          rules={[{ required: true, whitespace: true, message: t('runs.form.handle_missing') }]}
        >
          <Input disabled={account !== null} autoFocus={account === null} autoComplete="off" />
        </Form.Item>
        <Form.Item
          name="url"
          label={t('runs.form.url')}
          extra={t('runs.form.url_hint')}
          rules={[
            {
              validator: (_rule, value: string = '') =>
                isWebAddress(value.trim())
                  ? Promise.resolve()
                  : Promise.reject(new Error(t('runs.paste.error.bad_url'))),
            },
          ]}
        >
          <Input inputMode="url" placeholder="https://" autoComplete="off" />
        </Form.Item>
        <fieldset className="runs-form-filters">
          <legend>{t('runs.form.filters')}</legend>
          <Form.Item name="types" label={t('runs.form.types')} extra={t('runs.form.types_hint')}>
            <Select
              mode="tags"
              tokenSeparators={[',', ' ']}
              options={['image', 'video', 'audio', 'text', 'application'].map((value) => ({ value }))}
            />
          </Form.Item>
          <div className="runs-form-pairs">
            {(['min_size', 'max_size', 'limit'] as const).map((name) => {
              const least = name === 'limit' ? 1 : 0
              const message = t('runs.form.at_least', { least })
              return (
                <Form.Item
                  key={name}
                  name={name}
                  label={t(`runs.form.${name}`)}
                  // Not `min` of the field, which would put another number in place of what was typed.
                  rules={[{ type: 'number', min: least, message }]}
                >
                  <InputNumber precision={name === 'limit' ? 0 : 8} formatter={plain} />
                </Form.Item>
              )
            })}
            {(['since', 'until'] as const).map((name) => (
              <Form.Item key={name} name={name} label={t(`runs.form.${name}`)}>
                <Input type="date" />
              </Form.Item>
            ))}
          </div>
        </fieldset>
        {save.error && <ProblemNote error={save.error} />}
      </Form>
    </Dialog>
  )
}

const MEBIBYTE = 1024 ** 2
type Params = { [K in keyof AccountParams]?: AccountParams[K] | null }

/** In the unit that sizes are shown in. More digits than a byte needs, so that one that nobody changes stays as it is. */
function inMebibytes(params: Params): Params {
  return withSizes(params, (bytes) => bytes / MEBIBYTE)
}

function inBytes(params: Params): Params {
  return withSizes(params, (mebibytes) => Math.round(mebibytes * MEBIBYTE))
}

function withSizes({ min_size, max_size, ...others }: Params, change: (size: number) => number): Params {
  return {
    ...others,
    ...(typeof min_size === 'number' && { min_size: change(min_size) }),
    ...(typeof max_size === 'number' && { max_size: change(max_size) }),
  }
}

/** Without the zeros behind it. */
const plain = (value: number | string | undefined) =>
  value === undefined || value === '' ? '' : String(Number(value))

/** Fields that were left empty are no wishes. */
function given(params: Params): AccountParams {
  const filled = Object.entries(params).filter(
    ([, value]) =>
      value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && !value.length),
  )
  return Object.fromEntries(filled) as AccountParams
}
