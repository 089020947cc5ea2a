import { Button, Popconfirm, Tooltip } from 'antd'
import { type ReactNode, useState } from 'react'
import './action.css'

export interface ActionProps {
  icon: ReactNode
  /** What it does, in a word or two. */
  name: string
  /** What it is done to, for those who only hear the button: "Stop: orders.xlsx". */
  label?: string
  /** With its name beside the icon, as on the page of one thing; else the icon alone, as in a row of a table. */
  words?: boolean
  /** The one thing that most people came for. */
  main?: boolean
  danger?: boolean
  busy?: boolean
  disabled?: boolean
  /** Why it cannot be done now, or more than the name says. */
  hint?: string | undefined
  /** Asked before it is done. */
  confirm?: { question: string; keep: string }
  onClick(): void
}

/** Something that can be done, in the one look that all such buttons have. */
export function Action(props: ActionProps) {
  const { words = false, busy = false, disabled = false, confirm } = props
  return words || busy || disabled || confirm ? <FullAction {...props} /> : <LightAction {...props} />
}

/** A row of a long list has several: nothing is made for it until somebody comes near. */
function LightAction({ icon, name, label = name, hint = name, danger = false, onClick }: ActionProps) {
  const [near, setNear] = useState(false)
  return (
    <button
      type="button"
      className="action-light"
      data-danger={danger}
      aria-label={label}
      onPointerEnter={() => setNear(true)}
      onClick={onClick}
    >
      {icon}
      {near && (
        <Tooltip title={hint}>
          <span className="action-light-cover" />
        </Tooltip>
      )}
    </button>
  )
}

function FullAction(props: ActionProps) {
  const { icon, name, label = name, words = false, main = false, hint, confirm, onClick } = props
  const button = (
    <Button
      type={!words ? 'text' : main ? 'primary' : 'default'}
      danger={props.danger ?? false}
      icon={icon}
      aria-label={label}
      loading={props.busy ?? false}
      disabled={props.disabled ?? false}
      {...(!confirm && { onClick })}
    >
      {words && name}
    </Button>
  )
  const tipped = words && !hint ? button : <Tooltip title={hint ?? name}>{button}</Tooltip>
  // Where nothing hovers, a reason is to be read.
  const named =
    words && hint && props.disabled ? (
      <span className="action-with-reason">
        {tipped}
        <small>{hint}</small>
      </span>
    ) : (
      tipped
    )
  if (!confirm) return named
  return (
    <Popconfirm
      // Below the head of a page: its title stays readable.
      placement={words ? 'bottom' : 'top'}
      title={confirm.question}
      okText={name}
      cancelText={confirm.keep}
      okButtonProps={{ danger: props.danger ?? false }}
      disabled={props.disabled ?? false}
      onConfirm={onClick}
    >
      {named}
    </Popconfirm>
  )
}

/** Actions side by side: what most people came for first, what destroys last. */
export function Actions({ words = false, children }: { words?: boolean; children: ReactNode }) {
  return (
    <span className="actions" data-words={words}>
      {children}
    </span>
  )
}
