import { Checkbox, Form, Input, Select } from 'antd'
import { useTranslation } from 'react-i18next'
import { Fold } from './fold.tsx'

/** Signs and encodings that other programs expect, and compression. */
export function CsvFields({ isCsv }: { isCsv: boolean }) {
  const { t } = useTranslation()
  const choice = (name: string, values: readonly (readonly [string, string])[], label: string) => (
    <Form.Item name={['csv', name]} label={label}>
      <Select
        allowClear
        placeholder={t('make.usual')}
        options={values.map(([value, text]) => ({ value, label: text }))}
      />
    </Form.Item>
  )
  return (
    <Fold title={t('make.csv.title')} text={t('make.csv.text')}>
      <Form.Item name="compress" label={t('make.csv.compress')}>
        <Select
          aria-label={t('make.csv.compress')}
          allowClear
          placeholder={t('make.csv.not_compressed')}
          options={['gzip', 'zstd'].map((value) => ({ value, label: value }))}
        />
      </Form.Item>
      {isCsv && (
        <div className="make-pair">
          <Form.Item
            name={['csv', 'delimiter']}
            label={t('make.csv.delimiter')}
            rules={[{ max: 1, message: t('make.csv.one_sign') }]}
          >
            <Input placeholder="," />
          </Form.Item>
          {choice(
            'encoding',
            [
              ['utf-8', 'UTF-8'],
              ['gb18030', 'GB18030'],
              ['utf-16le', 'UTF-16 LE'],
              ['windows-1252', 'Windows-1252'],
            ],
            t('make.csv.encoding'),
          )}
          {choice(
            'line_end',
            [
              ['crlf', 'CRLF (Windows)'],
              ['lf', 'LF (Unix)'],
            ],
            t('make.csv.line_end'),
          )}
          {choice(
            'decimal',
            [
              ['.', '1.5'],
              [',', '1,5'],
            ],
            t('make.csv.decimal'),
          )}
          {choice(
            'quote',
            (['text', 'minimal', 'all'] as const).map(
              (value) => [value, t(`make.csv.quotes.${value}`)] as const,
            ),
            t('make.csv.quote'),
          )}
          {choice(
            'formulas',
            (['escape', 'keep'] as const).map((value) => [value, t(`make.csv.formula.${value}`)] as const),
            t('make.csv.formulas'),
          )}
        </div>
      )}
      {isCsv && (
        <Form.Item name={['csv', 'no_bom']} valuePropName="checked">
          <Checkbox>{t('make.csv.no_bom')}</Checkbox>
        </Form.Item>
      )}
    </Fold>
  )
}
