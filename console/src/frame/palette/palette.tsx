import { SearchOutlined } from '@ant-design/icons'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import './palette.css'
import { type Entry, useEntries } from './use-entries.ts'

/** Where to go and what to do, by typing a few letters. */
export function Palette({ onClose }: { onClose(): void }) {
  const { t } = useTranslation()
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const { entries, searching } = useEntries(text)
  const at = Math.min(chosen, entries.length - 1)
  useEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    return () => opened?.close()
  }, [])
  const run = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key]
    if (event.key === 'Enter') run(entries[at])
    else if (to === undefined) return
    else setChosen((to + entries.length) % Math.max(1, entries.length))
    event.preventDefault()
  }
  const optionId = (index: number) => `${id}-${index}`
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it too
    <dialog
      ref={dialog}
      className="palette"
      aria-label={t('common.palette.title')}
      onCancel={onClose}
      onClick={({ target }) => target === dialog.current && onClose()}
    >
      <div className="palette-field">
        <SearchOutlined aria-hidden="true" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={entries.length > 0 ? optionId(at) : undefined}
          aria-label={t('common.palette.title')}
          placeholder={t('common.palette.placeholder')}
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            setChosen(0)
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <Options id={id} entries={entries} at={at} optionId={optionId} onRun={run} />
      {entries.length === 0 && (
        <p className="palette-none" role="status">
          {t(searching ? 'common.palette.searching' : 'common.palette.none')}
        </p>
      )}
    </dialog>
  )
}

interface OptionsProps {
  id: string
  entries: readonly Entry[]
  at: number
  optionId(index: number): string
  onRun(entry: Entry): void
}

function Options({ id, entries, at, optionId, onRun }: OptionsProps) {
  const { t } = useTranslation()
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector(`#${CSS.escape(optionId(at))}`)?.scrollIntoView({ block: 'nearest' })
  })
  const groups = [...new Set(entries.map(({ group }) => group))]
  return (
    <div
      ref={list}
      id={`${id}-list`}
      className="palette-list"
      role="listbox"
      aria-label={t('common.palette.title')}
    >
      {groups.map((group) => (
        // biome-ignore lint/a11y/useSemanticElements: a listbox has groups, and no fieldsets
        <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
          <h3 id={`${id}-${group}`} role="presentation">
            {t(`common.palette.group.${group}`)}
          </h3>
          {entries.map(
            (entry, index) =>
              entry.group === group && (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
                <div
                  key={`${group} ${entry.id}`}
                  id={optionId(index)}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === at}
                  className="palette-option"
                  onClick={() => onRun(entry)}
                >
                  <span>{entry.title}</span>
                  {entry.about && <small>{entry.about}</small>}
                </div>
              ),
          )}
        </div>
      ))}
    </div>
  )
}
