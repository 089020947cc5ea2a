import { elementsOf, textOf } from './read-xml.ts'
import type { S3Client } from './s3-client.ts'

export interface UnfinishedUpload {
  key: string
  uploadId: string
  begunAt: number
}

/** Multipart uploads that were begun and neither completed nor aborted. */
export async function* unfinishedUploads(client: S3Client): AsyncGenerator<UnfinishedUpload> {
  let marker: Record<string, string | undefined> = {}
  for (;;) {
    const { text } = await client.send({ method: 'GET', query: { uploads: '', ...marker } })
    for (const upload of elementsOf(text, 'Upload')) {
      const [key, uploadId] = [textOf(upload, 'Key'), textOf(upload, 'UploadId')]
      const begunAt = Date.parse(textOf(upload, 'Initiated') ?? '')
      if (key && uploadId && !Number.isNaN(begunAt)) yield { key, uploadId, begunAt }
    }
    const next = textOf(text, 'NextKeyMarker')
    if (textOf(text, 'IsTruncated') !== 'true' || !next) return
    marker = { 'key-marker': next, 'upload-id-marker': textOf(text, 'NextUploadIdMarker') || undefined }
  }
}
