import { useQuery } from '@tanstack/react-query'
import { useSearch } from 'wouter'
import { getExport, getRequest } from '../../../api/exports.ts'
import { getSaved, type Schedule } from '../../../api/saved.ts'
import { session } from '../../../api/session.ts'
import { usePinnedProject, useProject } from '../../../live/project.ts'
import { useStore } from '../../../store.ts'
import { readTemplate, writeTemplate } from '../builder/template-tree.ts'
import { locateJson } from '../sheet/locate-json.ts'
import type { DraftFields } from './request/draft-fields.ts'
import { fromRequest } from './request/from-request.ts'
import { type StoredDraft, storedDraft } from './request/stored-draft.ts'

export interface Start extends StoredDraft {
  /** What it begins with: drafts are told apart by it. */
  of: string
  /** The saved export that is being changed. */
  saved: { name: string; schedule: Schedule | null } | null
  /** A draft of this tab goes on. */
  restored: boolean
  /** When what it begins with was asked for: the day that its dates were chosen on. */
  askedAt: number
}

/** What the form begins with: an earlier request, a saved one, the sample, the draft of this tab, or nothing. */
export function useStart() {
  const search = new URLSearchParams(useSearch())
  const projectId = useProject()?.project_id
  const from = search.get('from')
  const saved = search.get('saved')
  const isSample = search.has('sample')
  const of = [projectId, from, saved, isSample].join(' ')
  const isAdmin = useStore(session)?.role === 'admin'
  // What is made of an export belongs to its project, whichever the admin has chosen before.
  const earlier = useQuery({
    queryKey: ['export', from],
    queryFn: ({ signal }) => getExport(from as string, signal),
    enabled: from !== null,
  })
  usePinnedProject(earlier.data?.project_id)
  const isOwn = from === null || !isAdmin || earlier.data?.project_id === projectId
  return useQuery({
    queryKey: ['draft start', of],
    queryFn: async ({ signal }): Promise<Start> => {
      const start = await begin(signal)
      const kept = storedDraft(of)
      return { ...start, ...kept, of, restored: kept !== null }
    },
    enabled: projectId !== undefined && (from === null || (earlier.isFetched && (isOwn || earlier.isError))),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: 'always',
  })

  async function begin(signal: AbortSignal): Promise<Start> {
    if (from !== null) {
      const { written, ...shown } = await getRequest(from, signal)
      const askedAt = Date.parse(earlier.data?.created_at ?? new Date().toISOString())
      // As it was written: words for dates stay words.
      return startOf({ ...shown, ...(written && { request: written }) }, written ? 'written' : 'request', {
        sealedFrom: { task_id: from },
        askedAt,
      })
    }
    if (saved === null) return isSample ? { ...EMPTY, fields: sampleFields() } : EMPTY
    const found = await getSaved(projectId as string, saved, signal)
    return startOf(found, 'request', {
      sealedFrom: { saved_export: saved },
      since: found.etag,
      saved: { name: saved, schedule: found.schedule },
    })
  }
}

const EMPTY: Start = {
  of: '',
  fields: { kind: 'address', type: 'excel' },
  template: '',
  sealedFrom: null,
  since: null,
  saved: null,
  restored: false,
  askedAt: Date.now(),
}

function sampleFields(): DraftFields {
  return {
    kind: 'address',
    source_url: `${window.location.origin}/samples/orders?rows=1000`,
    type: 'excel',
    file_name: 'orders',
    title: 'Orders',
  }
}

interface Shown {
  request: Record<string, unknown>
  sealed: string[]
  parameters?: Record<string, unknown>
  text: string
}

/** `member`: where in the text the request is. */
function startOf(shown: Shown, member: 'request' | 'written', more: Partial<Start>): Start {
  const { fields, template } = fromRequest(shown.request, shown)
  const typed = (path: string, text: string) => (text === '' ? '' : asWritten(shown.text, path))
  return {
    ...EMPTY,
    ...more,
    fields: {
      ...fields,
      ...(fields.sheets && {
        sheets: fields.sheets.map((sheet, index) => ({
          ...sheet,
          ...(sheet.template && { template: typed(`${member}.sheets[${index}].template`, sheet.template) }),
        })),
      }),
    },
    template: typed(`${member}.template`, template),
  }
}

/** The text of a template inside a larger one, in lines again. */
export function asWritten(text: string, path: string): string {
  const { from, to } = locateJson(text, path)
  const own = text.slice(from, to)
  const reading = readTemplate(own)
  return reading.kind === 'tree' ? writeTemplate(reading.tree) : own
}
