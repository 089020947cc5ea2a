import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { may, session } from '../../api/session.ts'
import { commands } from '../../live/commands.ts'
import { placesFor } from '../../pages/registry.ts'
import { useStore } from '../../store.ts'
import { type Found, find } from './find.ts'
import { useNamed } from './use-named.ts'

export interface Entry {
  group: 'actions' | 'pages' | Found['kind']
  id: string
  title: string
  about?: string
  run(): void
}

const SHORTEST = 2

/** What the palette offers for the text: actions and pages at once, tasks, accounts and files as the server finds them. */
export function useEntries(typed: string): { entries: Entry[]; searching: boolean } {
  const { t } = useTranslation()
  const [, go] = useLocation()
  const who = useStore(session)
  const role = who?.role
  const offered = useStore(commands)
  const text = useDeferredValue(typed.trim())
  const asks = text.length >= SHORTEST && role !== undefined
  const { data = [], isFetching } = useQuery({
    queryKey: ['palette', text],
    queryFn: ({ signal }) => find({ text, role: role ?? 'project', signal }),
    enabled: asks,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  })
  const kept = useNamed(text, asks)
  const pages: Entry[] = placesFor(who).map(({ path, name }) => ({
    group: 'pages',
    id: path,
    title: t(`common.nav.${name}`),
    run: () => go(path),
  }))
  const actions: Entry[] = [
    ...(may(who, 'change', 'exports')
      ? [{ id: 'new-export', title: t('exports.new_export'), run: () => go('/exports/new') }]
      : []),
    ...(role === 'project' && may(who, 'change', 'transfers')
      ? [{ id: 'new-delivery', title: t('common.palette.new_delivery'), run: () => go('/transfers/new') }]
      : []),
    ...offered.flat(),
  ].map((action) => ({ group: 'actions' as const, ...action }))
  const named = [...actions, ...pages].filter(({ title }) => title.toLowerCase().includes(text.toLowerCase()))
  const found = [...kept.found, ...(asks ? data : [])].map(({ kind, path, ...rest }) => ({
    group: kind,
    ...rest,
    run: () => go(path),
  }))
  return { entries: [...named, ...found], searching: asks && (isFetching || kept.isFetching) }
}
