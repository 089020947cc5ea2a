import { DeleteOutlined, PlusOutlined } from '@ant-design/icons'
import { Button, Form } from 'antd'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { FieldName } from '../request/field-of-path.ts'

/** A list of equal rows that can be added and taken away. */
export function RowList({
  name,
  add,
  first,
  remove,
  most,
  children,
}: {
  name: FieldName
  /** Words of the button. */
  add: string
  /** What a new row holds. */
  first?: object
  /** Names the row that is taken away, for those who do not see it. */
  remove: string
  most?: number
  children(row: { name: number; key: number }): ReactNode
}) {
  const { t } = useTranslation()
  return (
    <Form.List name={name}>
      {(rows, actions) => (
        <div className="make-rows" data-field={name[0]}>
          {rows.map((row, index) => (
            <div key={row.key} className="make-row">
              <div className="make-row-fields">{children(row)}</div>
              <Button
                type="text"
                icon={<DeleteOutlined />}
                aria-label={t('make.remove', { what: `${remove} ${index + 1}` })}
                onClick={() => actions.remove(row.name)}
              />
            </div>
          ))}
          <Button
            type="dashed"
            icon={<PlusOutlined />}
            disabled={most !== undefined && rows.length >= most}
            onClick={() => actions.add(first ?? {})}
          >
            {add}
          </Button>
        </div>
      )}
    </Form.List>
  )
}
