import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { nameIn } from '../../live/page-address.ts'
import { EmptyState } from './empty-state.tsx'

/** What a route with one name or id in its path draws; an address that no name is written as says so. */
export function namedPage(draw: (name: string) => ReactNode): (parts: { 0?: string }) => ReactNode {
  return (parts) => {
    const name = nameIn(parts[0])
    return name === null ? <BadAddress /> : draw(name)
  }
}

function BadAddress() {
  const { t } = useTranslation()
  return (
    <EmptyState alone title={t('common.bad_address.title')} text={t('common.bad_address.text')}>
      <Link href="/">{t('common.not_found.back')}</Link>
    </EmptyState>
  )
}
