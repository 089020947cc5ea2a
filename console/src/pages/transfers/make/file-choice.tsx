import { UploadOutlined } from '@ant-design/icons'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button, Select } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearch } from 'wouter'
import { listFiles, putFile, type RepositoryFile } from '../../../api/transfers.ts'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { ProgressBar } from '../../../parts/table/progress-bar.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { orNothing } from '../../../parts/text/or-nothing.ts'

/** A file that is in the repository already, or one that is put there now. */
export function FileChoice({
  file,
  onChoose,
}: {
  file: RepositoryFile | null
  onChoose(file: RepositoryFile): void
}) {
  const { t } = useTranslation()
  const format = useFormat()
  const client = useQueryClient()
  const picker = useRef<HTMLInputElement>(null)
  // The command palette leads here with the file that was looked for.
  const wanted = new URLSearchParams(useSearch()).get('file')
  const [prefix, setPrefix] = useState(wanted ?? '')
  const [fraction, setFraction] = useState<number | null>(null)
  const [error, setError] = useState<unknown>(null)
  const { data } = useQuery({
    queryKey: ['repository', prefix],
    queryFn: ({ signal }) => listFiles(prefix, signal),
    placeholderData: (before) => before,
  })
  useEffect(() => {
    const found = file === null && data?.items.find(({ path }) => path === wanted)
    if (found) onChoose(found)
  }, [data, file, wanted, onChoose])
  const upload = async (chosen: File) => {
    setError(null)
    setFraction(0)
    try {
      const path = `console/${chosen.name}`
      const { signal } = new AbortController()
      onChoose(await putFile(path, chosen, { onProgress: setFraction, signal }))
      await client.invalidateQueries({ queryKey: ['repository'] })
    } catch (problem) {
      setError(problem)
    }
    setFraction(null)
    if (picker.current) picker.current.value = ''
  }
  const known = data?.items ?? []
  const files = file && !known.some(({ path }) => path === file.path) ? [file, ...known] : known
  return (
    <div className="delivery-file">
      <div className="delivery-file-line">
        <Select
          showSearch={{ filterOption: false, onSearch: setPrefix }}
          aria-label={t('transfers.new.file')}
          placeholder={t('transfers.new.file_placeholder')}
          value={file?.path ?? null}
          onChange={(path: string) => {
            const found = files.find((known) => known.path === path)
            if (found) onChoose(found)
          }}
          options={orNothing(
            files.map(({ path, size }) => ({ value: path, label: `${path} · ${format.bytes(size)}` })),
            t('transfers.new.no_files'),
          )}
        />
        <Button
          icon={<UploadOutlined />}
          disabled={fraction !== null}
          onClick={() => picker.current?.click()}
        >
          {t('transfers.new.upload')}
        </Button>
        <input
          ref={picker}
          type="file"
          hidden
          data-testid="delivery-file"
          onChange={({ target }) => {
            const chosen = target.files?.[0]
            if (chosen) void upload(chosen)
          }}
        />
      </div>
      {fraction !== null && <ProgressBar label={t('transfers.new.uploading')} fraction={fraction} />}
      {error !== null && <ProblemNote error={error} />}
      {file && (
        <span className="transfers-sub">
          SHA-256 <code>{file.signature}</code>
        </span>
      )}
    </div>
  )
}
