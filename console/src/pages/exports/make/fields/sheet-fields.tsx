import { Form, Input } from 'antd'
import { useTranslation } from 'react-i18next'
import { RowList } from './row-list.tsx'

const MOST_SHEETS = 50

/** A workbook of several tables, each with an address of its own. */
export function SheetFields() {
  const { t } = useTranslation()
  return (
    <RowList name={['sheets']} add={t('make.sheets.add')} remove={t('make.sheets.sheet')} most={MOST_SHEETS}>
      {({ name }) => (
        <div className="make-sheet">
          <Form.Item
            name={[name, 'name']}
            label={t('make.sheets.name')}
            rules={[{ required: true, message: t('make.needed') }]}
          >
            <Input />
          </Form.Item>
          <Form.Item name={[name, 'title']} label={t('make.file.title')}>
            <Input />
          </Form.Item>
          <Form.Item
            className="make-wide"
            name={[name, 'source_url']}
            label={t('make.source.url')}
            rules={[
              { required: true, pattern: /^\s*https?:\/\/\S+/i, message: t('make.source.url_missing') },
            ]}
          >
            <Input inputMode="url" placeholder="https://shop.example/api/orders" />
          </Form.Item>
        </div>
      )}
    </RowList>
  )
}
