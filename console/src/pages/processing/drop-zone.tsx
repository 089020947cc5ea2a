import { CloudUploadOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { type DragEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

/** A place to drop files on, and a button for those who do not drag. */
export function DropZone({ onFiles }: { onFiles(files: readonly File[]): void }) {
  const { t } = useTranslation()
  const picker = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    onFiles([...event.dataTransfer.files])
  }
  return (
    <section
      className="drop-zone"
      aria-label={t('processing.drop')}
      data-over={over}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <CloudUploadOutlined className="drop-zone-icon" aria-hidden="true" />
      <strong>{t(over ? 'processing.drop_now' : 'processing.drop')}</strong>
      <span className="quiet">{t('processing.drop_hint')}</span>
      <Button type="primary" onClick={() => picker.current?.click()}>
        {t('processing.choose')}
      </Button>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        data-testid="upload-files"
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])])
          target.value = ''
        }}
      />
    </section>
  )
}
