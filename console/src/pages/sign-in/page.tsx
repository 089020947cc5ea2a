import { Alert, Button, Input } from 'antd'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { signedOutBecause } from '../../api/session.ts'
import { askMethods, signInWithKey } from '../../api/who.ts'
import { Mark } from '../../parts/page/mark.tsx'
import { Preferences } from '../../parts/page/preferences.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { useStore } from '../../store.ts'
import './sign-in.css'

/** With the identity provider where there is one, a project's key or the admin token; what they may do, the server says. */
export function SignInPage() {
  const { t } = useTranslation()
  const because = useStore(signedOutBecause)
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const withProvider = useProvider()
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
      await signInWithKey(key.trim())
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
        {withProvider && (
          <>
            <Button type="primary" size="large" block href={loginAddress()}>
              {t('common.sign_in.with_provider')}
            </Button>
            <p className="sign-in-or">{t('common.sign_in.or')}</p>
          </>
        )}
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
          <Button
            type={withProvider ? 'default' : 'primary'}
            htmlType="submit"
            size="large"
            block
            loading={busy}
          >
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

/** Whether people can sign in with an identity provider here. */
function useProvider(): boolean {
  const [known, setKnown] = useState(false)
  useEffect(() => {
    const gone = new AbortController()
    askMethods(gone.signal).then(
      (methods) => setKnown(methods.includes('oidc')),
      // Without the answer there is still the key.
      () => undefined,
    )
    return () => gone.abort()
  }, [])
  return known
}

/** Back to this very page afterwards. */
function loginAddress(): string {
  const { pathname, search } = window.location
  return `/auth/login?${new URLSearchParams({ to: `${pathname}${search}` })}`
}
