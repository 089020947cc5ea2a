import { Alert, Button, Input } from 'antd'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { signedOutBecause, signIn } from '../../api/session.ts'
import { askWho } from '../../api/who.ts'
import { useStore } from '../../live/store.ts'
import { Mark } from '../../parts/mark.tsx'
import { Preferences } from '../../parts/preferences.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import './sign-in.css'

/** A project's key or the admin token; what it may do, the server says. */
export function SignInPage() {
  const { t } = useTranslation()
  const because = useStore(signedOutBecause)
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    document.title = `${t('common.sign_in.title')} · Wharf`
  }, [t])
  const [key, setKey] = useState('')
  const id = useId()
  const enter = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      const token = key.trim()
      const { role, project_id, project_name } = await askWho(token)
      signIn({ token, role, projectId: project_id, projectName: project_name })
    } catch (problem) {
      setError(problem)
      setBusy(false)
    }
  }
  return (
    <div className="sign-in">
      <div className="sign-in-top">
        <Preferences />
      </div>
      <main className="sign-in-card">
        <Mark size={44} />
        <h1>{t('common.sign_in.title')}</h1>
        <p className="quiet">{t('common.sign_in.text')}</p>
        {because === 'expired' && error === null && (
          <Alert type="warning" showIcon title={t('common.sign_in.expired')} />
        )}
        {error !== null && <ProblemNote error={error} />}
        <form onSubmit={enter}>
          <label htmlFor={id}>{t('common.sign_in.key')}</label>
          <Input.Password
            id={id}
            autoFocus
            required
            autoComplete="off"
            size="large"
            placeholder="wharf_…"
            aria-describedby={`${id}-hint`}
            value={key}
            onChange={({ target }) => setKey(target.value)}
          />
          <p id={`${id}-hint`} className="sign-in-hint">
            {t('common.sign_in.hint')}
          </p>
          <Button type="primary" htmlType="submit" size="large" block loading={busy}>
            {t('common.sign_in.go')}
          </Button>
        </form>
        <p className="sign-in-foot">
          <a href="/docs">{t('common.sign_in.reference')}</a>
        </p>
      </main>
    </div>
  )
}
