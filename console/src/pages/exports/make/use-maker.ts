import { useMutation } from '@tanstack/react-query'
import { Form } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { createExport, type Preview, previewExport } from '../../../api/export-drafts.ts'
import { Problem } from '../../../api/problem.ts'
import { addressOf } from '../../../live/page-address.ts'
import { useProject } from '../../../live/project.ts'
import { useMadeOnce, useOnce } from '../../../live/use-once.ts'
import { showFirstWrong } from '../../../parts/dialog/show-first-wrong.ts'
import { ruleText } from '../../../parts/text/mistake-text.ts'
import { useProblemText } from '../../../parts/text/problem-text.ts'
import type { DraftFields } from './request/draft-fields.ts'
import { fieldOfPath } from './request/field-of-path.ts'
import { fixedDates, withWords } from './request/fixed-dates.ts'
import { forgetDraft, storeDraft } from './request/stored-draft.ts'
import { toRequest, writeRequest } from './request/to-request.ts'
import { revealField } from './reveal-field.ts'
import type { Start } from './use-start.ts'

/** Whose columns are edited: all tables', or one sheet's own. */
export type Target = 'all' | number

/** Fields that say where the rows come from: what was seen of another source says nothing any more. */
const OF_THE_SOURCE = ['kind', 'source_url', 'http', 'sql', 'sheets', 'audit', 'headers', 'auth'] as const
const LOOK_AGAIN_MS = 700

/** A new export as it is filled in: its look beforehand, its sending, and the draft that stays in the tab. */
export function useMaker(start: Start) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const [, go] = useLocation()
  const projectId = useProject()?.project_id as string
  const [form] = Form.useForm<DraftFields>()
  const root = useRef<HTMLDivElement>(null)
  const [template, setTemplateText] = useState(start.template)
  const [target, setTarget] = useState<Target>('all')
  const [preview, setPreview] = useState<Preview | null>(null)
  /** How often somebody has asked for a look and got one: what follows their typing does not move the page. */
  const [looks, setLooks] = useState(0)
  const [refused, setRefused] = useState<{ problem: Problem; text: string } | null>(null)
  // The same form sent twice is one export; a changed one is another.
  const make = useMadeOnce((json: string, attempt) => createExport(projectId, json, attempt))
  const { sealedFrom } = start

  const fields = (): DraftFields => ({ ...start.fields, ...form.getFieldsValue(true) })
  const request = () => toRequest(fields(), current.current.template, sealedFrom)
  const current = useRef({ template, hasPreview: false })
  current.current = { template, hasPreview: preview !== null }

  const shown = useMutation({
    mutationFn: () => previewExport(projectId, writeRequest(request())),
    onSuccess: setPreview,
    onError: (error) => pointOut(error),
  })
  const sent = useOnce({
    mutationFn: () => make(writeRequest(request())),
    onSuccess: ({ task_id }) => {
      forgetDraft(start.of)
      go(addressOf('/exports', task_id))
    },
    onError: (error) => pointOut(error),
  })

  /** Marks the field that the server has something against. */
  const pointOut = (error: unknown) => {
    if (!(error instanceof Problem) || error.path === undefined) return
    const name = fieldOfPath(error.path, fields().kind)
    if (name[0] === 'template') {
      setRefused({ problem: error, text: current.current.template })
      return
    }
    const [mistake] = error.mistakes
    const said = (mistake && ruleText(t, mistake)) ?? problemText(error).title
    form.setFields([{ name: name as never, errors: [said] }])
    revealField(root.current, name)
  }
  const whenRight = (then: () => void) => void form.validateFields().then(then, showFirstWrong)

  const again = useRef<ReturnType<typeof setTimeout>>(undefined)
  const look = useRef(shown.mutate)
  look.current = shown.mutate
  useEffect(() => () => clearTimeout(again.current), [])
  /** Soon, once whoever types has come to rest, and only if there is something to bring up to date. */
  const lookAgain = () => {
    clearTimeout(again.current)
    if (current.current.hasPreview) again.current = setTimeout(() => look.current(), LOOK_AGAIN_MS)
  }

  const store = () =>
    storeDraft(start.of, {
      fields: fields(),
      template: current.current.template,
      sealedFrom,
      since: start.since,
    })
  const changed = (values: Partial<DraftFields>) => {
    sent.reset()
    if (OF_THE_SOURCE.some((name) => name in values)) {
      clearTimeout(again.current)
      current.current.hasPreview = false
      setPreview(null)
      shown.reset()
    } else lookAgain()
    store()
  }
  const templateOf = (which: Target): string =>
    which === 'all' ? current.current.template : (fields().sheets?.[which]?.template ?? '')
  const setTemplate = (text: string) => {
    if (target === 'all') {
      current.current.template = text
      setTemplateText(text)
    } else form.setFieldValue(['sheets', target, 'template'], text)
    sent.reset()
    store()
    lookAgain()
  }

  /** Asked for where the source's own template would be used. */
  const useOwnTemplate = () => {
    form.setFieldValue('template_from', 'request')
    shown.mutate()
  }

  const dates = () => fixedDates(fields(), start.askedAt)
  /** Words that each run fills in, in place of dates. */
  const replaceDates = () => {
    const changes = withWords(fields(), dates())
    form.setFieldsValue(changes as never)
    changed(changes)
  }

  const error = sent.error ?? shown.error
  return {
    form,
    root,
    start,
    projectId,
    preview,
    isLooking: shown.isPending,
    isSending: sent.isPending,
    error,
    refused,
    target,
    setTarget,
    template: templateOf(target),
    setTemplate,
    useOwnTemplate,
    changed,
    request,
    dates,
    replaceDates,
    looks,
    look: () => whenRight(() => shown.mutate(undefined, { onSuccess: () => setLooks((count) => count + 1) })),
    send: () => sent.mutate(),
    whenRight,
    pointOut,
  }
}

export type Maker = ReturnType<typeof useMaker>
