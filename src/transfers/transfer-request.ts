import type { Static } from 'typebox'
import type { TransferTarget } from '../carriers/index.ts'
import { AppError, ERRORS } from '../kernel/index.ts'
import type { Tx } from '../ledger/index.ts'
import { fullPathOf, targetDirectory } from './repository/repository-path.ts'
import type { DeliveredFile } from './transfer-keys.ts'
import type { TransferRequestBody } from './views/transfer-schemas.ts'

export type TransferBody = Static<typeof TransferRequestBody>

/** One caller's wish to have a file at one target. */
export interface JoinRequest extends DeliveredFile {
  projectId: string
  fileName: string
  signature: string
  /** Where the bytes are; null: in the repository, under the path and signature. */
  artifactKey: string | null
  target: TransferTarget
  /** Called in the transaction in which it joins a delivery. */
  onJoined?: ((tx: Tx, jobId: string) => void) | undefined
}

/** A finished export's file. */
export interface ExportFile {
  projectId: string
  artifactKey: string
  name: string
  sha256: string
}

const SIGNATURE = /^[0-9a-f]{64}$/i

export async function readRequest(
  projectId: string,
  body: TransferBody,
  exportFile: (taskId: string) => Promise<ExportFile>,
): Promise<JoinRequest> {
  const file = body.export_task_id === undefined ? ownFile(body) : await exported(projectId, body, exportFile)
  return {
    projectId,
    bizId: body.biz_id,
    appId: body.app_id,
    ...file,
    target: {
      agentId: plain('target_agent_id', body.target_agent_id),
      containerId: plain('target_container_id', body.target_container_id ?? ''),
      user: plain('target_user', body.target_user ?? ''),
      directory: targetDirectory(body.target_file_dir),
    },
  }
}

function ownFile({ file_path, file_name, file_signature }: TransferBody) {
  if (file_path === undefined || file_name === undefined || file_signature === undefined) {
    const message = 'body must have file_path, file_name and file_signature, or export_task_id'
    throw new AppError(ERRORS.REQUEST_INVALID, message)
  }
  if (!SIGNATURE.test(file_signature)) {
    throw new AppError(ERRORS.REQUEST_INVALID, 'body/file_signature must be a SHA-256, 64 hexadecimal digits')
  }
  return {
    fullPath: fullPathOf(file_path, file_name),
    fileName: file_name,
    signature: file_signature.toLowerCase(),
    artifactKey: null,
  }
}

async function exported(
  projectId: string,
  body: TransferBody,
  exportFile: (taskId: string) => Promise<ExportFile>,
) {
  if (body.file_path !== undefined || body.file_signature !== undefined) {
    const message = 'body/export_task_id replaces file_path and file_signature'
    throw new AppError(ERRORS.REQUEST_INVALID, message)
  }
  const taskId = body.export_task_id as string
  const file = await exportFile(taskId)
  if (file.projectId !== projectId) throw new AppError(ERRORS.TASK_NOT_FOUND, `there is no export ${taskId}`)
  const fileName = body.file_name ?? file.name
  return {
    fullPath: fullPathOf(`/exports/${taskId}`, fileName),
    fileName,
    signature: file.sha256,
    artifactKey: file.artifactKey,
  }
}

/** Texts that end up in an index, in keys, and in other programs' hands. */
function plain(name: string, text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (!text.isWellFormed() || /[\u0000-\u001f\u007f]/.test(text))
    throw new AppError(ERRORS.REQUEST_INVALID, `body/${name} has control characters`)
  return text
}
