import { Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import type { LiveConnection } from '../live/connection.ts'
import { useLive } from '../live/live.tsx'
import { useStore } from '../store.ts'
import './link-state.css'

/** A small lamp: live, or not. */
export function LinkState() {
  const live = useLive()
  return live && <Lamp live={live} />
}

function Lamp({ live }: { live: LiveConnection }) {
  const { t } = useTranslation()
  const link = useStore(live.link)
  return (
    <Tooltip title={t(`common.link.${link}_hint`)}>
      <span className={`link-state link-state-${link}`} data-link={link}>
        {t(`common.link.${link}`)}
      </span>
    </Tooltip>
  )
}
