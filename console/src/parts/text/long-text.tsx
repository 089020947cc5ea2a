import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import './long-text.css'

const MOST = 320

/** What a server said may be a whole page: its beginning, and the rest for those who want it. */
export function LongText({ text }: { text: string }) {
  const { t } = useTranslation()
  const [all, setAll] = useState(false)
  if (text.length <= MOST) return <span className="long-text">{text}</span>
  return (
    <span className="long-text">
      {all ? text : `${text.slice(0, MOST)}… `}{' '}
      <button type="button" className="long-text-more" aria-expanded={all} onClick={() => setAll(!all)}>
        {t(all ? 'common.show_less' : 'common.show_all')}
      </button>
    </span>
  )
}
