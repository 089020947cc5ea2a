import { ListMultipartUploadsCommand, type MultipartUpload, type S3Client } from '@aws-sdk/client-s3'

/** Multipart uploads that were begun and neither completed nor aborted. The SDK has no paginator for them. */
export async function* unfinishedUploads(client: S3Client, Bucket: string): AsyncGenerator<MultipartUpload> {
  let marker: { KeyMarker?: string; UploadIdMarker?: string } = {}
  for (;;) {
    const page = await client.send(new ListMultipartUploadsCommand({ Bucket, ...marker }))
    yield* page.Uploads ?? []
    if (!page.IsTruncated || !page.NextKeyMarker) return
    marker = {
      KeyMarker: page.NextKeyMarker,
      ...(page.NextUploadIdMarker ? { UploadIdMarker: page.NextUploadIdMarker } : {}),
    }
  }
}
