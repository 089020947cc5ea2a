import { type Static, Type } from 'typebox'
import { AppError, ERRORS } from '../kernel/index.ts'

const CHATS = ['slack', 'feishu', 'dingtalk', 'wecom'] as const
export type Chat = (typeof CHATS)[number]
export const LANGUAGES = ['en', 'zh'] as const
/** Without a choice, a message has both. */
export type Language = (typeof LANGUAGES)[number]

/** People who are notified of the end, besides the callback. */
export type NotifyWish = Static<typeof NotifyWish>
export const NotifyWish = Type.Object(
  {
    email: Type.Optional(
      Type.Array(Type.String({ minLength: 3, maxLength: 320 }), {
        maxItems: 20,
        description: 'Each gets a mail of its own with a link',
      }),
    ),
    chat: Type.Optional(
      Type.Array(
        Type.Object(
          {
            kind: Type.Enum([...CHATS]),
            url: Type.String({ minLength: 1, maxLength: 16_384, description: 'Its webhook; stored sealed' }),
          },
          { additionalProperties: false },
        ),
        { maxItems: 20 },
      ),
    ),
    language: Type.Optional(Type.Enum([...LANGUAGES], { description: 'Default: messages have both' })),
  },
  {
    title: 'NotifyOptions',
    additionalProperties: false,
    description: 'People who are notified when it is ready or has failed',
  },
)

/** What the installation can do. */
export interface NotifySetting {
  mail: boolean
  publicUrl: boolean
  checkUrl(url: string): void
}

/** One address and nothing around it: no name, no list, no line break. */
const ADDRESS = /^[^\s@<>(),;:"\\[\]]{1,64}@[^\s@<>(),;:"\\[\]]{1,255}$/

/** Throws if the wish is invalid, or if the installation is not set up for it. */
export function checkNotify({ email = [], chat = [] }: NotifyWish, setting: NotifySetting): void {
  for (const [index, address] of email.entries())
    if (!ADDRESS.test(address)) throw invalid(`notify.email[${index}]`, `is no e-mail address: '${address}'`)
  if (email.length > 0 && !setting.mail)
    throw notSetUp('notify.email needs a mail server: SMTP_URL is not set; ask the operator of this Wharf')
  if (email.length + chat.length > 0 && !setting.publicUrl)
    throw notSetUp(
      'notify needs links that work for everybody: WHARF_PUBLIC_URL is not set; ask the operator of this Wharf',
    )
  for (const [index, { url }] of chat.entries()) {
    const path = `notify.chat[${index}].url`
    try {
      setting.checkUrl(url)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      throw new AppError(error.kind, `${path}: ${error.message}`, { cause: error, details: { path } })
    }
  }
}

function notSetUp(message: string): AppError {
  return new AppError(ERRORS.NOTIFY_NOT_SET_UP, message, { retryable: false })
}

function invalid(path: string, message: string): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, `${path} ${message}`, {
    details: { errors: [{ path, message }] },
    retryable: false,
  })
}
