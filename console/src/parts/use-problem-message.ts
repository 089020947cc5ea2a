import { App } from 'antd'
import { useProblemText } from './problem-text.ts'

/** Says in passing what went wrong: the words, the server's detail, and the code to search for. */
export function useProblemMessage(): (error: unknown) => void {
  const { message } = App.useApp()
  const words = useProblemText()
  return (error) => {
    const { title, detail, code } = words(error)
    message.error(`${title}${detail && `: ${detail}`} (${code})`)
  }
}
