import { Checkbox } from 'antd'
import { useTranslation } from 'react-i18next'
import { may, session } from '../api/session.ts'
import { placesFor } from '../pages/registry.ts'
import { Dialog } from '../parts/dialog/dialog.tsx'
import { useStore } from '../store.ts'
import './shortcut-sheet.css'
import { CTRL, setSingleKeys, singleKeys } from './shortcuts.ts'

/** Every shortcut there is. */
export function ShortcutSheet({ onClose }: { onClose(): void }) {
  const { t } = useTranslation()
  const who = useStore(session)
  const on = useStore(singleKeys)
  const places = placesFor(who).filter(({ shortcut }) => shortcut)
  const shortcuts: { keys: readonly string[]; does: string }[] = [
    { keys: [CTRL, 'K'], does: t('common.palette.title') },
    { keys: ['?'], does: t('common.shortcuts.title') },
    { keys: ['/'], does: t('common.shortcuts.search') },
    ...(may(who, 'change', 'exports') ? [{ keys: ['N'], does: t('exports.new_export') }] : []),
    ...places.map(({ name, shortcut = '' }) => ({
      keys: ['G', shortcut.toUpperCase()],
      does: t('common.shortcuts.go_to', { page: t(`common.nav.${name}`) }),
    })),
    { keys: ['Esc'], does: t('common.shortcuts.close') },
  ]
  return (
    <Dialog title={t('common.shortcuts.title')} onClose={onClose}>
      <dl className="shortcut-sheet">
        {shortcuts.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p className="shortcut-sheet-switch">
        <Checkbox checked={on} onChange={({ target }) => setSingleKeys(target.checked)}>
          {t('common.shortcuts.single_keys')}
        </Checkbox>
      </p>
    </Dialog>
  )
}
