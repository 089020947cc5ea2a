import { Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import { ledgerAway } from '../api/reachable.ts'
import type { LiveConnection } from '../live/connection.ts'
import { useLive } from '../live/live.tsx'
import { useStore } from '../store.ts'
import './link-state.css'

/** A small lamp: live, or not. Without its database a server that is there has no news either. */
export function LinkState() {
  const live = useLive()
  return live && <Lamp live={live} />
}

function Lamp({ live }: { live: LiveConnection }) {
  const { t } = useTranslation()
  const open = useStore(live.link)
  const away = useStore(ledgerAway)
  const link = open === 'live' && away ? 'stale' : open
  return (
    <Tooltip title={t(`common.link.${link}_hint`)}>
      <span className={`link-state link-state-${link}`} data-link={link}>
        {t(`common.link.${link}`)}
      </span>
    </Tooltip>
  )
}
