import { message } from 'antd'
import { createContext, type ReactNode, use } from 'react'
import { useProblemText } from './problem-text.ts'
import './toasts.css'

type Messages = ReturnType<typeof message.useMessage>[0]

const Toasts = createContext<Messages | null>(null)

/** Short words about what was just done. (antd's own `App` would bring dialogs and more into the first view.) */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [messages, place] = message.useMessage()
  return (
    <Toasts value={messages}>
      {place}
      {children}
    </Toasts>
  )
}

export function useToasts() {
  const messages = use(Toasts)
  const words = useProblemText()
  return {
    success: (text: string) => void messages?.success(text),
    warning: (text: string) => void messages?.warning(text),
    problem(error: unknown) {
      const { title, detail, code } = words(error)
      void messages?.error(
        <span className="toast-problem">
          {title}
          <small>
            {detail} ({code})
          </small>
        </span>,
      )
    },
  }
}
