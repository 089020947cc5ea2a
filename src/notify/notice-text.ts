import type { TaskNotice } from '../domain/index.ts'
import { LANGUAGES, type Language } from './notify-wish.ts'

export interface Notice {
  subject: string
  text: string
  html: string
}

interface Words {
  done: string
  failed: string
  rows: string
  size: string
  link: string
  download: string
  until: string
  reason: string
  task: string
}

const WORDS: Record<Language, Words> = {
  en: {
    done: 'is ready',
    failed: 'could not be made',
    rows: 'Rows',
    size: 'Size',
    link: 'Download',
    download: 'Download the file',
    until: 'The link works until',
    reason: 'Reason',
    task: 'Task',
  },
  zh: {
    done: '已生成',
    failed: '生成失败',
    rows: '行数',
    size: '大小',
    link: '下载',
    download: '下载文件',
    until: '链接有效期至',
    reason: '原因',
    task: '任务',
  },
}

const LONGEST_NAME = 120
const LONGEST_REASON = 400

/** One message, in one language or in both. It has a link and never the file itself. */
export function noticeOf(task: TaskNotice, language?: Language): Notice {
  const spoken = language === undefined ? LANGUAGES : [language]
  const shown = {
    ...task,
    name: cut(task.name, LONGEST_NAME),
    error: task.error && cut(task.error, LONGEST_REASON),
  }
  return {
    subject: `Wharf: ${shown.name} ${spoken.map((one) => headline(shown, one)).join(' / ')}`,
    text: spoken.map((one) => textIn(shown, one)).join('\n\n'),
    html: `<!doctype html><html><body style="font-family: sans-serif">${spoken.map((one) => htmlIn(shown, one)).join('<hr>')}</body></html>`,
  }
}

function headline({ succeeded }: TaskNotice, language: Language): string {
  return WORDS[language][succeeded ? 'done' : 'failed']
}

function factsIn(
  { rows, bytes, error, taskId }: TaskNotice,
  language: Language,
): [label: string, value: string][] {
  const words = WORDS[language]
  const facts: [string, string | null][] = [
    [words.rows, rows === null ? null : rows.toLocaleString('en')],
    [words.size, bytes === null ? null : sizeOf(bytes)],
    [words.reason, error],
    [words.task, taskId],
  ]
  return facts.filter((fact): fact is [string, string] => fact[1] !== null)
}

function textIn(task: TaskNotice, language: Language): string {
  const words = WORDS[language]
  const lines = [`Wharf: ${task.name} ${headline(task, language)}`]
  for (const [label, value] of factsIn(task, language)) lines.push(`${label}: ${value}`)
  if (task.link !== null) lines.push(`${words.link}: ${task.link}`, `${words.until} ${task.linkUntil}`)
  return lines.join('\n')
}

function htmlIn(task: TaskNotice, language: Language): string {
  const words = WORDS[language]
  const facts = factsIn(task, language).map(([label, value]) => `<li>${label}: ${escaped(value)}</li>`)
  const link =
    task.link === null
      ? ''
      : `<p><a href="${escaped(task.link)}">${words.download}</a></p><p>${words.until} ${escaped(task.linkUntil ?? '')}</p>`
  return `<div lang="${language}"><p><b>${escaped(task.name)}</b> ${headline(task, language)}</p><ul>${facts.join('')}</ul>${link}</div>`
}

function sizeOf(bytes: number): string {
  const [unit, name] =
    bytes < 1024 ** 2 ? [1024, 'KiB'] : bytes < 1024 ** 3 ? [1024 ** 2, 'MiB'] : [1024 ** 3, 'GiB']
  return `${Math.max(0.1, bytes / unit).toFixed(1)} ${name}`
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
