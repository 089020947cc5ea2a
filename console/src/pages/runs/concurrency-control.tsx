import { useQueryClient } from '@tanstack/react-query'
import { InputNumber } from 'antd'
import { useEffect, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type RunsState, setMaxConcurrent } from '../../api/runs.ts'
import { useOnce } from '../../live/use-once.ts'
import { useToasts } from '../../parts/dialog/toasts.tsx'
import { useFormat } from '../../parts/text/format.ts'
import { RUNS_KEY } from './patch.ts'

/** Arrow keys repeat quickly: only where they come to rest is told. */
const REST_MS = 250
const LEAST = 1
const MOST = 1_000

/** How many runs may go on at once. Acts at once: there is no button to forget. */
export function ConcurrencyControl({ value, running }: { value: number; running: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  const id = useId()
  const client = useQueryClient()
  const { problem: onError } = useToasts()
  const [wanted, setWanted] = useState<number | null>(value)
  const { mutate, isPending } = useOnce({
    mutationFn: setMaxConcurrent,
    onSuccess: (_answer, max_concurrent) =>
      client.setQueryData<RunsState>(RUNS_KEY, (state) => state && { ...state, max_concurrent }),
    onError: (error) => {
      setWanted(value)
      onError(error)
    },
  })
  useEffect(() => setWanted(value), [value])
  const isGood = wanted !== null && wanted >= LEAST && wanted <= MOST
  useEffect(() => {
    if (!isGood || wanted === value) return
    const timer = setTimeout(() => mutate(wanted), REST_MS)
    return () => clearTimeout(timer)
  }, [wanted, value, isGood, mutate])
  return (
    <div className="runs-limit">
      <label htmlFor={id}>{t('runs.limit.label')}</label>
      <InputNumber
        id={id}
        precision={0}
        value={wanted}
        status={isGood ? '' : 'error'}
        aria-invalid={!isGood}
        aria-describedby={`${id}-note`}
        aria-busy={isPending}
        onChange={setWanted}
      />
      <span id={`${id}-note`} className="runs-sub" data-bad={!isGood} role={isGood ? undefined : 'alert'}>
        {isGood
          ? t('runs.limit.running', { running })
          : t('runs.limit.range', { least: LEAST, most: format.number(MOST) })}
      </span>
    </div>
  )
}
