import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../../kernel/index.ts'
import { languageOf } from './language.ts'
import { retryAfterOf } from './problem.ts'

interface Words {
  title: string
  advice: string
}

type Language = 'en' | 'zh-CN'

const INVALID: Record<Language, Words> = {
  en: {
    title: 'This link is not valid',
    advice: 'Make sure that the whole address was copied, or ask the sender for a new link.',
  },
  'zh-CN': { title: '链接无效', advice: '请确认复制了完整的地址，或向发送者索取新的链接。' },
}

/** What a person can do about it; everything that is not here passes by itself. */
const WORDS: Record<string, Record<Language, Words>> = {
  LINK_EXPIRED: {
    en: { title: 'This link has expired', advice: 'Ask the sender for a new link.' },
    'zh-CN': { title: '链接已过期', advice: '请向发送者索取新的链接。' },
  },
  LINK_USED_UP: {
    en: {
      title: 'This link has been used up',
      advice: 'The file was downloaded as often as the link allows. Ask the sender for another one.',
    },
    'zh-CN': {
      title: '链接的使用次数已用完',
      advice: '文件已按链接允许的次数下载完毕，请向发送者索取新的链接。',
    },
  },
  EXPORT_EXPIRED: {
    en: {
      title: 'The file is no longer there',
      advice: 'It was kept for its time, or was deleted. Ask for the export to be made again.',
    },
    'zh-CN': { title: '文件已不存在', advice: '文件已过保留期或已被删除，请重新申请导出。' },
  },
  EXPORT_NOT_READY: {
    en: {
      title: 'There is no file yet',
      advice: 'The export is still being made. Try again later.',
    },
    'zh-CN': { title: '文件尚未生成', advice: '导出仍在进行，请稍后再试。' },
  },
  EXPORT_WITHOUT_FILE: {
    en: {
      title: 'There is no file',
      advice: 'The export failed or was cancelled. Ask for it to be made again.',
    },
    'zh-CN': { title: '没有文件', advice: '导出已失败或被取消，请重新申请导出。' },
  },
  UNAUTHENTICATED: INVALID,
  TASK_NOT_FOUND: INVALID,
}

const OTHER: Record<Language, Words> = {
  en: { title: 'The file cannot be fetched right now', advice: 'Try again in a moment.' },
  'zh-CN': { title: '暂时无法下载文件', advice: '请稍后再试。' },
}

const STYLE = `body { font: 16px/1.6 system-ui, sans-serif; max-width: 32rem; margin: 18vh auto 0; padding: 0 1.5rem; color-scheme: light dark }
h1 { font-size: 1.5rem } small { opacity: 0.7 }`

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Whether a link was opened in a browser. */
export function wantsLinkPage({ routeOptions, headers, method }: FastifyRequest): boolean {
  const opens = method === 'GET' && headers.authorization === undefined
  return opens && routeOptions.config.link === true && (headers.accept ?? '').includes('text/html')
}

/** An error in words, for people. The status and, small, the code are those of the problem document. */
export function sendLinkPage(request: FastifyRequest, reply: FastifyReply, error: AppError): FastifyReply {
  const language = languageOf(request) === 'zh' ? 'zh-CN' : 'en'
  const { title, advice } = (WORDS[error.code] ?? OTHER)[language]
  const retryAfter = retryAfterOf(error)
  if (retryAfter !== undefined) reply.header('Retry-After', retryAfter)
  return reply
    .code(error.kind.http)
    .headers({
      'Content-Security-Policy': POLICY,
      'Content-Language': language,
      Vary: 'Accept, Accept-Language',
    })
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${STYLE}</style>
<main>
<h1>${title}</h1>
<p>${advice}</p>
<p><small>${error.code} · ${request.id}</small></p>
</main>
</html>
`)
}
