import type { TaskNotice } from '../domain/index.ts'
import { counted, sizeInWords } from '../kernel/index.ts'
import { LANGUAGES, type Language } from './notify-wish.ts'

export interface Notice {
  subject: string
  text: string
  html: string
}

interface Words {
  done: string
  /** After `done`: with so many of them. */
  warned(count: number): string
  warning: string
  more(count: number): string
  failed: string
  rows: string
  size: string
  link: string
  download: string
  until: string
  /** After the end of the link: how often it can be used. */
  uses(count: number): string
  reason: string
  task: string
}

const WORDS: Record<Language, Words> = {
  en: {
    done: 'is ready',
    warned: (count) => `, with ${counted(count, 'warning')}`,
    warning: 'Warning',
    more: (count) => `and ${counted(count, 'more warning')}`,
    failed: 'could not be made',
    rows: 'Rows',
    size: 'Size',
    link: 'Download',
    download: 'Download the file',
    until: 'The link works until',
    uses: (count) => `, for ${counted(count, 'download')} in all`,
    reason: 'Reason',
    task: 'Task',
  },
  zh: {
    done: '已生成',
    warned: (count) => `，有 ${count} 条警告`,
    warning: '警告',
    more: (count) => `另有 ${count} 条警告`,
    failed: '生成失败',
    rows: '行数',
    size: '大小',
    link: '下载',
    download: '下载文件',
    until: '链接有效期至',
    uses: (count) => `，共可下载 ${count} 次`,
    reason: '原因',
    task: '任务',
  },
}

const LONGEST_NAME = 120
const LONGEST_REASON = 400
const MOST_WARNINGS = 5
const LOCALES: Record<Language, string> = { en: 'en-GB', zh: 'zh-CN' }

/** One message, in one language or in both. It has a link and never the file itself. */
export function noticeOf(task: TaskNotice, language?: Language): Notice {
  const spoken = language === undefined ? LANGUAGES : [language]
  const shown = {
    ...task,
    name: nameOf(task),
    warnings: task.warnings.map(short),
    error: task.error && short(task.error),
  }
  return {
    subject: `Wharf: ${shown.name} ${spoken.map((one) => headline(shown, one)).join(' / ')}`,
    text: spoken.map((one) => textIn(shown, one)).join('\n\n'),
    html: `<!doctype html><html><body style="font-family: sans-serif">${spoken.map((one) => htmlIn(shown, one)).join('<hr>')}</body></html>`,
  }
}

function short({ en, zh }: Readonly<Record<Language, string>>): Record<Language, string> {
  return { en: cut(en, LONGEST_REASON), zh: cut(zh, LONGEST_REASON) }
}

function nameOf({ name, title }: TaskNotice): string {
  const file = cut(name, LONGEST_NAME)
  return title === null || title.trim() === '' ? file : `${cut(title, LONGEST_NAME)} (${file})`
}

function headline({ succeeded, warnings }: TaskNotice, language: Language): string {
  const words = WORDS[language]
  if (!succeeded) return words.failed
  return warnings.length === 0 ? words.done : `${words.done}${words.warned(warnings.length)}`
}

function factsIn(
  { rows, bytes, error, warnings, taskId }: TaskNotice,
  language: Language,
): [label: string, value: string][] {
  const words = WORDS[language]
  const facts: [string, string | null][] = [
    [words.rows, rows === null ? null : rows.toLocaleString('en')],
    [words.size, bytes === null ? null : sizeInWords(bytes)],
    [words.reason, error?.[language] ?? null],
    ...warnings
      .slice(0, MOST_WARNINGS)
      .map((warning): [string, string] => [words.warning, warning[language]]),
    [words.warning, warnings.length > MOST_WARNINGS ? words.more(warnings.length - MOST_WARNINGS) : null],
    [words.task, taskId],
  ]
  return facts.filter((fact): fact is [string, string] => fact[1] !== null)
}

function textIn(task: TaskNotice, language: Language): string {
  const words = WORDS[language]
  const lines = [`Wharf: ${task.name} ${headline(task, language)}`]
  for (const [label, value] of factsIn(task, language)) lines.push(`${label}: ${value}`)
  if (task.link !== null)
    lines.push(`${words.link}: ${task.link}`, `${words.until} ${untilIn(task, language)}`)
  return lines.join('\n')
}

function htmlIn(task: TaskNotice, language: Language): string {
  const words = WORDS[language]
  const facts = factsIn(task, language).map(([label, value]) => `<li>${label}: ${escaped(value)}</li>`)
  const link =
    task.link === null
      ? ''
      : `<p><a href="${escaped(task.link)}">${words.download}</a></p><p>${words.until} ${untilIn(task, language)}</p>`
  return `<div lang="${language}"><p><b>${escaped(task.name)}</b> ${headline(task, language)}</p><ul>${facts.join('')}</ul>${link}</div>`
}

/** By the clock of the export's own zone, which is named because a reader may live by another. */
function untilIn({ linkUntil, linkUses, timezone }: TaskNotice, language: Language): string {
  const options = { dateStyle: 'long', timeStyle: 'short', timeZone: timezone } as const
  const end = new Intl.DateTimeFormat(LOCALES[language], options).format(linkUntil ?? 0)
  return `${end} (${timezone})${linkUses === null ? '' : WORDS[language].uses(linkUses)}`
}

/** Names and reasons come from others: no line breaks, and no more of them than fits. */
function cut(text: string, longest: number): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').toWellFormed()
  return line.length > longest ? `${line.slice(0, longest - 1).toWellFormed()}…` : line
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
