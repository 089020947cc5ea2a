import { excerpt } from '../kernel/index.ts'
import type { Chat } from './notify-wish.ts'

/** How a webhook of each chat takes a text, and how it says that it has. */
interface ChatFormat {
  body(text: string): object
  /** What is wrong, of an answer with 2xx; null: it was taken. */
  complaint(answer: string): string | null
}

/**
 * Slack: docs.slack.dev "Sending messages using incoming webhooks" (& < > are escaped, the answer is `ok`).
 * Feishu: open.feishu.cn "Custom bot usage guide" (`code` 0). DingTalk: open.dingtalk.com "Custom robot access" (`errcode` 0).
 * WeCom: developer.work.weixin.qq.com/document/path/91770 (`errcode` 0, a text has at most 2,048 bytes).
 */
export const CHAT_FORMATS: Record<Chat, ChatFormat> = {
  slack: {
    body: (text) => ({ text: text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') }),
    complaint: () => null,
  },
  feishu: {
    body: (text) => ({ msg_type: 'text', content: { text } }),
    complaint: (answer) => complaintIn(answer, ['code', 'StatusCode'], ['msg', 'StatusMessage']),
  },
  dingtalk: {
    body: (text) => ({ msgtype: 'text', text: { content: text } }),
    complaint: (answer) => complaintIn(answer, ['errcode'], ['errmsg']),
  },
  wecom: {
    body: (text) => ({ msgtype: 'text', text: { content: text } }),
    complaint: (answer) => complaintIn(answer, ['errcode'], ['errmsg']),
  },
}

/** These chats answer 200 to everything, and say in the body how it went. */
function complaintIn(answer: string, codes: string[], words: string[]): string | null {
  let said: Record<string, unknown>
  try {
    said = Object(JSON.parse(answer)) as Record<string, unknown>
  } catch {
    return 'the answer is not JSON'
  }
  const code = codes.map((name) => said[name]).find((value) => value !== undefined)
  if (code === 0) return null
  const reason = words.map((name) => said[name]).find((value) => typeof value === 'string')
  return `code ${String(code)}: ${excerpt(String(reason ?? 'no reason given'), 300)}`
}
