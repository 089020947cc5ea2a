import { useMutation, useQueryClient } from '@tanstack/react-query'
import { InputNumber } from 'antd'
import { useEffect, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type RunsState, setMaxConcurrent } from '../../api/runs.ts'
import { useToasts } from '../../parts/toasts.tsx'
import { RUNS_KEY } from './patch.ts'

/** Arrow keys repeat quickly: only where they come to rest is told. */
const REST_MS = 250

/** How many runs may go on at once. Acts at once: there is no button to forget. */
export function ConcurrencyControl({ value, running }: { value: number; running: number }) {
  const { t } = useTranslation()
  const id = useId()
  const client = useQueryClient()
  const { problem: onError } = useToasts()
  const [wanted, setWanted] = useState(value)
  const { mutate, isPending } = useMutation({
    mutationFn: setMaxConcurrent,
    onSuccess: (_answer, max_concurrent) =>
      client.setQueryData<RunsState>(RUNS_KEY, (state) => state && { ...state, max_concurrent }),
    onError: (error) => {
      setWanted(value)
      onError(error)
    },
  })
  useEffect(() => setWanted(value), [value])
  useEffect(() => {
    if (wanted === value) return
    const timer = setTimeout(() => mutate(wanted), REST_MS)
    return () => clearTimeout(timer)
  }, [wanted, value, mutate])
  return (
    <div className="runs-limit">
      <label htmlFor={id}>{t('runs.limit.label')}</label>
      <InputNumber
        id={id}
        min={1}
        max={1_000}
        precision={0}
        value={wanted}
        aria-busy={isPending}
        onChange={(next) => next !== null && setWanted(next)}
      />
      <span className="runs-sub">{t('runs.limit.running', { running })}</span>
    </div>
  )
}
