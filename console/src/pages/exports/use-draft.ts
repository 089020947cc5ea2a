import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { createExport, type ExportDraft, previewExport } from '../../api/export-drafts.ts'
import { Problem } from '../../api/problem.ts'
import { useProject } from '../../live/project.ts'
import { randomKey } from '../../parts/random-key.ts'
import { forgetDraft, keptDraft } from './kept-draft.ts'

/** A new export as it is being filled in: its look beforehand, and its sending. */
export function useDraft() {
  const [, go] = useLocation()
  const project = useProject()
  const projectId = project?.project_id
  const of: 'own' | 'sample' = new URLSearchParams(useSearch()).has('sample') ? 'sample' : 'own'
  const [first] = useState(() => keptDraft(of) ?? firstDraft(of))
  const [template, setTemplate] = useState(first.template ?? '')
  const [templateFrom, setTemplateFrom] = useState(first.template_from)
  const attempt = useRef({ key: randomKey(), body: '' })
  const shown = useMutation({
    mutationFn: (draft: ExportDraft) => previewExport(projectId as string, draft),
  })
  const sent = useMutation({
    mutationFn: (draft: ExportDraft) => {
      const body = JSON.stringify(draft)
      // The same form sent twice is one export; a changed one is another.
      if (attempt.current.body !== body) attempt.current = { key: randomKey(), body }
      return createExport(projectId as string, draft, attempt.current.key)
    },
    onSuccess: ({ task_id }) => {
      forgetDraft(of)
      go(`/exports/${task_id}`)
    },
  })
  const problem = [sent.error, shown.error].find((error) => error instanceof Problem)
  const text = (sent.error ? sent.variables : shown.variables)?.template
  const refused = problem && text !== undefined ? { problem, text } : null
  /** Asked for where the source brings a template, which would be used otherwise. */
  const takeOwnTemplate = () => {
    setTemplateFrom('request')
    if (shown.variables) shown.mutate({ ...shown.variables, template_from: 'request' })
  }
  const clear = () => {
    sent.reset()
    shown.reset()
  }
  return {
    of,
    first,
    template,
    setTemplate,
    templateFrom,
    takeOwnTemplate,
    shown,
    sent,
    refused,
    clear,
    ready: projectId !== undefined,
  }
}

export type Draft = ReturnType<typeof useDraft>

function firstDraft(of: 'own' | 'sample'): ExportDraft {
  if (of === 'own') return { source_url: '', type: 'excel' }
  return {
    source_url: `${window.location.origin}/samples/orders?rows=1000`,
    type: 'excel',
    file_name: 'orders',
    title: 'Orders',
  }
}
