import { useQueryClient } from '@tanstack/react-query'
import { Alert, Button, Input } from 'antd'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { putAccount, type RunsState } from '../../../api/runs.ts'
import { Dialog } from '../../../parts/dialog/dialog.tsx'
import { useToasts } from '../../../parts/dialog/toasts.tsx'
import { useProblemText } from '../../../parts/text/problem-text.ts'
import { RUNS_KEY } from '../patch.ts'
import { type PastedAccount, parseAccounts } from './parse-accounts.ts'

interface Refused {
  line: number
  text: string
  why: string
}

/** Many accounts at a time, one a line. What is wrong is said by line, and the lines that are wrong stay to be put right. */
export function PasteDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation()
  const id = useId()
  const client = useQueryClient()
  const { success } = useToasts()
  const words = useProblemText()
  const [text, setText] = useState('')
  const [refused, setRefused] = useState<Refused[]>([])
  const [busy, setBusy] = useState(false)
  const { accounts, errors } = parseAccounts(text)
  const wrong = [
    ...errors.map(({ line, text, error }) => ({ line, text, why: t(`runs.paste.error.${error}`) })),
    ...refused,
  ].sort((a, b) => a.line - b.line)

  const add = async () => {
    setBusy(true)
    const failed: (Refused & PastedAccount)[] = []
    const known = new Map(
      client.getQueryData<RunsState>(RUNS_KEY)?.accounts.map(({ handle, params }) => [handle, params]),
    )
    for (const account of accounts) {
      const { handle, url } = account
      try {
        await putAccount(handle, url, known.get(handle) ?? {})
      } catch (error) {
        const { title, detail, code } = words(error)
        failed.push({ ...account, text: `${handle} ${url}`, why: `${title} ${detail} (${code})` })
      }
    }
    setBusy(false)
    await client.invalidateQueries({ queryKey: RUNS_KEY })
    const done = accounts.length - failed.length
    if (done > 0) success(t('runs.paste.done', { count: done }))
    if (failed.length + errors.length === 0) return onClose()
    // Only what is still to be done is left, in its old order.
    const left = [...errors, ...failed].sort((a, b) => a.line - b.line)
    setText(left.map((entry) => entry.text).join('\n'))
    setRefused(
      failed.map(({ text, why }) => ({ line: left.findIndex((e) => e.text === text) + 1, text, why })),
    )
  }

  return (
    <Dialog
      title={t('runs.paste.title')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('runs.form.back')}</Button>
          <Button type="primary" loading={busy} disabled={accounts.length === 0} onClick={() => void add()}>
            {t('runs.paste.add', { count: accounts.length })}
          </Button>
        </>
      }
    >
      <label htmlFor={id}>{t('runs.paste.text')}</label>
      <Input.TextArea
        id={id}
        autoFocus
        className="mono"
        value={text}
        rows={8}
        spellCheck={false}
        placeholder={'ann  https://example.com/feed?user=ann\nbob  https://example.com/feed?user=bob'}
        onChange={({ target }) => {
          setText(target.value)
          setRefused([])
        }}
      />
      {wrong.length > 0 && (
        <Alert
          className="runs-paste-errors"
          type="warning"
          role="status"
          title={t('runs.paste.wrong', { count: wrong.length })}
          description={
            <ul>
              {wrong.map(({ line, text, why }) => (
                <li key={`${line} ${text}`}>
                  <strong>{t('runs.paste.line', { line })}</strong> {why} <code>{text}</code>
                </li>
              ))}
            </ul>
          }
        />
      )}
    </Dialog>
  )
}
