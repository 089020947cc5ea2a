import { CopyOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { useToasts } from '../../../parts/dialog/toasts.tsx'
import { copyText } from '../../../parts/text/copy-text.ts'
import { useFormat } from '../../../parts/text/format.ts'
import { useCodeText } from '../../../parts/text/target-code.ts'
import type { Target } from '../make/target-list.ts'

interface Group {
  code: number
  /** What was said of the first of them. */
  message: string
  hosts: string[]
}

/** Why targets failed, the most frequent reason first. A thousand hosts mostly have two or three reasons. */
export function FailureGroups({
  failures,
  chosen,
  onChoose,
}: {
  failures: readonly Target[]
  chosen: number | null
  onChoose(code: number | null): void
}) {
  const { t } = useTranslation()
  const format = useFormat()
  const codeText = useCodeText()
  return (
    <ul className="failure-groups">
      {groupsOf(failures).map(({ code, message, hosts }) => (
        <li key={code}>
          <button
            type="button"
            className="failure-group"
            aria-pressed={chosen === code}
            onClick={() => onChoose(chosen === code ? null : code)}
          >
            <b>{format.number(hosts.length)}</b>
            <span>
              {codeText(code)} <code>{code}</code>
              {message !== '' && <span className="transfers-sub">{message}</span>}
            </span>
          </button>
          <CopyHosts
            hosts={hosts}
            label={t('transfers.reasons.copy_label', { count: hosts.length, reason: codeText(code) })}
          />
        </li>
      ))}
    </ul>
  )
}

function CopyHosts({ hosts, label }: { hosts: readonly string[]; label: string }) {
  const { t } = useTranslation()
  const { success, problem } = useToasts()
  const copy = () =>
    copyText(hosts.join('\n')).then(
      () => success(t('transfers.reasons.copied', { count: hosts.length })),
      problem,
    )
  return (
    <Button size="small" icon={<CopyOutlined />} aria-label={label} onClick={() => void copy()}>
      {t('transfers.reasons.copy')}
    </Button>
  )
}

function groupsOf(failures: readonly Target[]): Group[] {
  const groups = new Map<number, Group>()
  for (const { code, message, key } of failures) {
    const group = groups.get(code) ?? { code, message, hosts: [] }
    group.hosts.push(key.replace(/:$/, ''))
    groups.set(code, group)
  }
  return [...groups.values()].sort((a, b) => b.hosts.length - a.hosts.length || a.code - b.code)
}
