import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../../kernel/index.ts'
import { languageOf, retryAfterOf } from '../answers/index.ts'

interface Words {
  language: string
  title: string
  text: string
  again: string
  key: string
}

const ENGLISH: Record<string, string> = {
  SIGN_IN_OFF: 'Signing in with an identity provider is not set up here',
  SIGN_IN_FAILED: 'You are not signed in',
  SIGN_IN_REFUSED: 'You have no role in Wharf',
  ISSUER_UNAVAILABLE: 'The identity provider does not answer',
}
const CHINESE: Record<string, { title: string; text: string; more?: true }> = {
  SIGN_IN_OFF: { title: '此处未启用统一身份登录', text: '请使用密钥登录。' },
  SIGN_IN_FAILED: { title: '登录未成功', text: '请重新登录。详细原因：', more: true },
  SIGN_IN_REFUSED: {
    title: '您在 Wharf 中没有角色',
    text: '您已通过身份验证，但您的账号在 Wharf 中没有可用的角色，请联系账号管理员。详细原因：',
    more: true,
  },
  ISSUER_UNAVAILABLE: {
    title: '身份服务暂时无法访问',
    text: '身份服务没有正常响应，目前无法用它登录。请稍后重试，或使用密钥登录。',
  },
}

function wordsFor(request: FastifyRequest, { code, message }: AppError): Words {
  if (languageOf(request) === 'zh') {
    const { title, text, more } = CHINESE[code] ?? { title: '登录未成功', text: '详细原因：', more: true }
    return {
      ...{ language: 'zh-CN', title, text: more ? `${text}${message}` : text },
      ...{ again: '重试', key: '使用密钥登录' },
    }
  }
  const title = ENGLISH[code] ?? 'You are not signed in'
  return { language: 'en', title, text: message, again: 'Try again', key: 'Sign in with a key' }
}

const STYLE = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 12vh auto; padding: 0 1rem; color-scheme: light dark }
h1 { font-size: 1.4rem } a { margin-right: 1rem }`

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** For people whose sign-in ended here: what happened, and what they can do. */
export function sendSignInProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  error: AppError,
): FastifyReply {
  const { language, title, text, again, key } = wordsFor(request, error)
  const retryAfter = retryAfterOf(error)
  if (retryAfter !== undefined) reply.header('Retry-After', retryAfter)
  return reply
    .code(error.kind.http)
    .type('text/html; charset=utf-8')
    .header('Content-Security-Policy', POLICY)
    .send(`<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Wharf</title>
<style>${STYLE}</style>
<main>
<h1>${title}</h1>
<p>${escapeHtml(text)}</p>
<p><a href="/auth/login">${again}</a> <a href="/">${key}</a></p>
<p><code>${error.code}</code></p>
</main>
</html>
`)
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
