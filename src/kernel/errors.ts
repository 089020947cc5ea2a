/**
 * The one table of errors. Domains throw `new AppError(ERRORS.X, 'what happened and what to do')`; only transports
 * (HTTP, gRPC, CLI) translate a code into their own status. `docs/errors.md` lists the same codes, and a test compares
 * the two in both directions.
 */
/** What a job can wait for before it is tried again: a part of the installation, or what a caller named. */
export const WAITS_ON = ['ledger', 'store', 'disk', 'redis', 'source', 'quota', 'scanner', 'mail'] as const
export type WaitsOn = (typeof WAITS_ON)[number]

export interface ErrorKind {
  /** Stable name on the wire. */
  readonly code: string
  readonly http: number
  /** gRPC status code (https://grpc.io/docs/guides/status-codes/). */
  readonly grpc: number
  readonly title: string
  /** Set when a job that meets such an error waits for this, and has not failed. */
  readonly outage?: WaitsOn
}

function kind(
  code: string,
  http: number,
  grpc: number,
  title: string,
  more: Pick<ErrorKind, 'outage'> = {},
): ErrorKind {
  return Object.freeze({ code, http, grpc, title, ...more })
}

const INVALID_ARGUMENT = 3
const NOT_FOUND = 5
const ALREADY_EXISTS = 6
const PERMISSION_DENIED = 7
const RESOURCE_EXHAUSTED = 8
const FAILED_PRECONDITION = 9
const ABORTED = 10
const OUT_OF_RANGE = 11
const INTERNAL = 13
const UNIMPLEMENTED = 12
const UNAVAILABLE = 14
const UNAUTHENTICATED = 16
const DEADLINE_EXCEEDED = 4
const CANCELLED = 1

export const ERRORS = {
  CONFIG_INVALID: kind('CONFIG_INVALID', 500, FAILED_PRECONDITION, 'A setting is missing or malformed'),
  DATA_DIR_LOCKED: kind(
    'DATA_DIR_LOCKED',
    500,
    FAILED_PRECONDITION,
    'Another Wharf uses this data directory',
  ),
  SINGLE_INSTANCE: kind(
    'SINGLE_INSTANCE',
    500,
    FAILED_PRECONDITION,
    'Only one instance may run without Redis',
  ),
  FILES_NOT_SHARED: kind(
    'FILES_NOT_SHARED',
    500,
    FAILED_PRECONDITION,
    'Another instance runs that does not see the files of this one',
  ),
  SERVER_UNREACHABLE: kind(
    'SERVER_UNREACHABLE',
    502,
    UNAVAILABLE,
    'The server that a command was to ask does not answer',
  ),
  SCHEMA_TOO_NEW: kind('SCHEMA_TOO_NEW', 500, FAILED_PRECONDITION, 'The ledger was written by a newer Wharf'),

  REQUEST_INVALID: kind('REQUEST_INVALID', 400, INVALID_ARGUMENT, 'The request is not valid'),
  BODY_NOT_JSON: kind('BODY_NOT_JSON', 400, INVALID_ARGUMENT, 'The body is not JSON'),
  BODY_TOO_SLOW: kind('BODY_TOO_SLOW', 408, DEADLINE_EXCEEDED, 'The body came too slowly'),
  BODY_TOO_LARGE: kind('BODY_TOO_LARGE', 413, RESOURCE_EXHAUSTED, 'The body is too large'),
  HEADERS_TOO_LARGE: kind('HEADERS_TOO_LARGE', 431, RESOURCE_EXHAUSTED, 'The headers are too large'),
  REQUEST_TOO_SLOW: kind('REQUEST_TOO_SLOW', 408, DEADLINE_EXCEEDED, 'The request took too long to arrive'),
  MEDIA_TYPE_UNSUPPORTED: kind(
    'MEDIA_TYPE_UNSUPPORTED',
    415,
    INVALID_ARGUMENT,
    'The content type is not supported',
  ),
  UNAUTHENTICATED: kind('UNAUTHENTICATED', 401, UNAUTHENTICATED, 'A valid key is needed'),
  FORBIDDEN: kind('FORBIDDEN', 403, PERMISSION_DENIED, 'This key may not do that'),
  FOREIGN_ORIGIN: kind('FOREIGN_ORIGIN', 403, PERMISSION_DENIED, 'A page of another origin asked'),
  SESSION_NOT_FOUND: kind('SESSION_NOT_FOUND', 404, NOT_FOUND, 'There is no such session'),
  SIGN_IN_OFF: kind('SIGN_IN_OFF', 404, NOT_FOUND, 'No identity provider is set up'),
  SIGN_IN_FAILED: kind('SIGN_IN_FAILED', 400, FAILED_PRECONDITION, 'The sign-in did not succeed'),
  SIGN_IN_REFUSED: kind('SIGN_IN_REFUSED', 403, PERMISSION_DENIED, 'This person has no role here'),
  ISSUER_UNAVAILABLE: kind('ISSUER_UNAVAILABLE', 503, UNAVAILABLE, 'The identity provider does not answer'),
  NOT_FOUND: kind('NOT_FOUND', 404, NOT_FOUND, 'There is no such thing here'),
  METHOD_NOT_ALLOWED: kind('METHOD_NOT_ALLOWED', 405, UNIMPLEMENTED, 'The address does not take this method'),
  RATE_LIMITED: kind('RATE_LIMITED', 429, RESOURCE_EXHAUSTED, 'Too many requests'),
  IDEMPOTENCY_KEY_INVALID: kind(
    'IDEMPOTENCY_KEY_INVALID',
    400,
    INVALID_ARGUMENT,
    'The idempotency key is not valid',
  ),
  IDEMPOTENCY_KEY_REUSED: kind(
    'IDEMPOTENCY_KEY_REUSED',
    422,
    ALREADY_EXISTS,
    'The idempotency key was used for another request',
  ),
  IDEMPOTENCY_IN_FLIGHT: kind(
    'IDEMPOTENCY_IN_FLIGHT',
    409,
    ABORTED,
    'The first request with this idempotency key is still at work',
  ),
  LEDGER_UNAVAILABLE: kind('LEDGER_UNAVAILABLE', 503, UNAVAILABLE, 'The ledger cannot be reached', {
    outage: 'ledger',
  }),
  CALLER_GONE: kind('CALLER_GONE', 499, CANCELLED, 'The caller has gone'),
  SHUTTING_DOWN: kind('SHUTTING_DOWN', 503, UNAVAILABLE, 'This instance is shutting down'),
  INTERNAL: kind('INTERNAL', 500, INTERNAL, 'Something broke inside Wharf'),

  QUOTA_REQUESTS: kind(
    'QUOTA_REQUESTS',
    429,
    RESOURCE_EXHAUSTED,
    'The project has too many requests at work',
  ),
  QUOTA_STREAMS: kind('QUOTA_STREAMS', 429, RESOURCE_EXHAUSTED, 'The project has too many streams open'),
  QUOTA_DISK: kind('QUOTA_DISK', 507, RESOURCE_EXHAUSTED, 'The project has used up its room on disk', {
    outage: 'quota',
  }),
  QUOTA_ROWS: kind('QUOTA_ROWS', 429, RESOURCE_EXHAUSTED, 'The project has used up its rows of the day', {
    outage: 'quota',
  }),
  QUOTA_BYTES: kind('QUOTA_BYTES', 429, RESOURCE_EXHAUSTED, 'The project has used up its bytes of the day', {
    outage: 'quota',
  }),
  PROJECT_NOT_FOUND: kind('PROJECT_NOT_FOUND', 404, NOT_FOUND, 'There is no such project'),
  KEY_NOT_FOUND: kind('KEY_NOT_FOUND', 404, NOT_FOUND, 'The project has no such key'),
  PROJECT_BUSY: kind('PROJECT_BUSY', 409, FAILED_PRECONDITION, 'The project still has unfinished work'),
  TASK_NOT_FOUND: kind('TASK_NOT_FOUND', 404, NOT_FOUND, 'There is no such task'),
  TASK_FINISHED: kind('TASK_FINISHED', 409, FAILED_PRECONDITION, 'The task has already ended'),
  TASK_NOT_FINISHED: kind('TASK_NOT_FINISHED', 409, FAILED_PRECONDITION, 'The task has not ended yet'),
  NOTHING_FAILED: kind('NOTHING_FAILED', 409, FAILED_PRECONDITION, 'There is nothing to try again'),

  JOB_KIND_UNKNOWN: kind('JOB_KIND_UNKNOWN', 500, INTERNAL, 'No handler is defined for this kind of job'),
  JOB_CANCELLED: kind('JOB_CANCELLED', 409, CANCELLED, 'The job was cancelled'),
  JOB_TIMED_OUT: kind('JOB_TIMED_OUT', 504, DEADLINE_EXCEEDED, 'The job took longer than it may'),
  JOB_LEASE_LOST: kind('JOB_LEASE_LOST', 409, ABORTED, 'Another worker has taken the job over'),
  JOB_WORKER_LOST: kind('JOB_WORKER_LOST', 500, ABORTED, 'The worker of this job died too often'),
  JOB_REFUSED: kind('JOB_REFUSED', 409, FAILED_PRECONDITION, 'Such a job is already under way'),
  JOB_FAILED: kind('JOB_FAILED', 500, INTERNAL, 'The job failed'),

  // net
  URL_UNSUPPORTED: kind('URL_UNSUPPORTED', 400, INVALID_ARGUMENT, 'The address is no http or https URL'),
  ADDRESS_REFUSED: kind('ADDRESS_REFUSED', 422, PERMISSION_DENIED, 'The address guard refuses this host'),
  HOST_UNRESOLVED: kind('HOST_UNRESOLVED', 502, UNAVAILABLE, 'The host name cannot be resolved'),
  CONNECT_FAILED: kind('CONNECT_FAILED', 502, UNAVAILABLE, 'The host cannot be connected to'),
  CONNECTION_LOST: kind(
    'CONNECTION_LOST',
    502,
    UNAVAILABLE,
    'The connection broke before the answer was whole',
  ),
  HTTP_TIMEOUT: kind('HTTP_TIMEOUT', 504, DEADLINE_EXCEEDED, 'The other side took too long'),
  HTTP_STATUS: kind('HTTP_STATUS', 502, UNAVAILABLE, 'The other side answered with an error'),
  HTTP_MALFORMED: kind('HTTP_MALFORMED', 502, UNAVAILABLE, 'The other side does not speak proper HTTP'),
  REDIRECT_LOOP: kind('REDIRECT_LOOP', 502, FAILED_PRECONDITION, 'The other side redirects too often'),
  REDIRECT_REFUSED: kind('REDIRECT_REFUSED', 502, FAILED_PRECONDITION, 'This redirect is not followed'),
  BODY_TOO_LARGE_REMOTE: kind(
    'BODY_TOO_LARGE_REMOTE',
    502,
    RESOURCE_EXHAUSTED,
    'The answer of the other side is too large',
  ),
  BODY_ENCODING_BROKEN: kind(
    'BODY_ENCODING_BROKEN',
    502,
    UNAVAILABLE,
    'The answer of the other side cannot be decompressed',
  ),

  // storage
  STORAGE_KEY_INVALID: kind(
    'STORAGE_KEY_INVALID',
    400,
    INVALID_ARGUMENT,
    'This is no name for a stored file',
  ),
  ARTIFACT_NOT_FOUND: kind('ARTIFACT_NOT_FOUND', 404, NOT_FOUND, 'There is no such file'),
  ARTIFACT_DAMAGED: kind('ARTIFACT_DAMAGED', 500, INTERNAL, 'The stored file was changed or cut off'),
  RANGE_NOT_SATISFIABLE: kind('RANGE_NOT_SATISFIABLE', 416, OUT_OF_RANGE, 'The file has no such range'),
  STORAGE_FULL: kind('STORAGE_FULL', 507, RESOURCE_EXHAUSTED, 'There is no room left to keep files', {
    outage: 'disk',
  }),
  STORAGE_DENIED: kind('STORAGE_DENIED', 500, FAILED_PRECONDITION, 'The file store refuses Wharf'),
  STORAGE_UNAVAILABLE: kind('STORAGE_UNAVAILABLE', 503, UNAVAILABLE, 'The file store cannot be reached', {
    outage: 'store',
  }),

  // scans
  FILE_REFUSED: kind('FILE_REFUSED', 422, FAILED_PRECONDITION, 'The malware scan refuses the file'),
  SCAN_TIMED_OUT: kind('SCAN_TIMED_OUT', 504, DEADLINE_EXCEEDED, 'The malware scan took too long'),
  SCANNER_UNAVAILABLE: kind('SCANNER_UNAVAILABLE', 503, UNAVAILABLE, 'The malware scan does not work', {
    outage: 'scanner',
  }),

  // exports
  EXPORT_NOT_READY: kind('EXPORT_NOT_READY', 409, FAILED_PRECONDITION, 'The export has no file yet'),
  EXPORT_WITHOUT_FILE: kind(
    'EXPORT_WITHOUT_FILE',
    409,
    FAILED_PRECONDITION,
    'The export failed or was cancelled, so it has no file',
  ),
  EXPORT_EXPIRED: kind(
    'EXPORT_EXPIRED',
    410,
    NOT_FOUND,
    'The file is gone: its time is over, or it was deleted',
  ),
  LINK_EXPIRED: kind('LINK_EXPIRED', 410, NOT_FOUND, 'The link is past its time'),
  LINK_USED_UP: kind('LINK_USED_UP', 410, NOT_FOUND, 'The link was used as often as it may be'),
  REQUEST_NOT_KEPT: kind(
    'REQUEST_NOT_KEPT',
    409,
    FAILED_PRECONDITION,
    'The request of the export is not known',
  ),
  ROWS_NOT_KEPT: kind('ROWS_NOT_KEPT', 409, FAILED_PRECONDITION, 'The rows of the export were not kept'),
  ROWS_EXPIRED: kind(
    'ROWS_EXPIRED',
    410,
    NOT_FOUND,
    'The rows are gone: their time is over, or they were deleted',
  ),
  EXPORT_LIMIT: kind('EXPORT_LIMIT', 429, RESOURCE_EXHAUSTED, 'The project has too many unfinished exports'),
  SAVED_EXPORT_NOT_FOUND: kind(
    'SAVED_EXPORT_NOT_FOUND',
    404,
    NOT_FOUND,
    'The project has no such saved export',
  ),
  SAVED_EXPORT_CHANGED: kind(
    'SAVED_EXPORT_CHANGED',
    412,
    FAILED_PRECONDITION,
    'The saved export is not the version that was meant',
  ),
  TEMPLATE_NOT_FOUND: kind('TEMPLATE_NOT_FOUND', 404, NOT_FOUND, 'The project has no such template'),
  TOO_MANY_NAMES: kind(
    'TOO_MANY_NAMES',
    409,
    RESOURCE_EXHAUSTED,
    'The project has too many templates or saved exports',
  ),
  CONNECTION_NOT_FOUND: kind('CONNECTION_NOT_FOUND', 404, NOT_FOUND, 'The project has no such connection'),
  CONNECTION_REFUSED: kind(
    'CONNECTION_REFUSED',
    422,
    PERMISSION_DENIED,
    'Exports may not read through this connection',
  ),
  QUERY_FAILED: kind('QUERY_FAILED', 422, INVALID_ARGUMENT, 'The database refuses the query'),
  NOTIFY_NOT_SET_UP: kind(
    'NOTIFY_NOT_SET_UP',
    422,
    FAILED_PRECONDITION,
    'This installation cannot notify people',
  ),
  MAIL_REFUSED: kind('MAIL_REFUSED', 502, FAILED_PRECONDITION, 'The mail server refuses the e-mail'),
  MAIL_UNAVAILABLE: kind('MAIL_UNAVAILABLE', 503, UNAVAILABLE, 'The mail server cannot be used', {
    outage: 'mail',
  }),
  CHAT_REFUSED: kind('CHAT_REFUSED', 502, UNAVAILABLE, 'The chat did not take the message'),
  CALLBACK_REFUSED: kind('CALLBACK_REFUSED', 502, UNAVAILABLE, 'The callback did not answer with 2xx'),
  TEMPLATE_INVALID: kind('TEMPLATE_INVALID', 400, INVALID_ARGUMENT, 'The template is not valid'),
  TEMPLATE_TOO_COSTLY: kind('TEMPLATE_TOO_COSTLY', 400, INVALID_ARGUMENT, 'The template costs too much work'),
  PARQUET_NO_COLUMNS: kind('PARQUET_NO_COLUMNS', 422, FAILED_PRECONDITION, 'A Parquet file needs a column'),
  SPOOL_DAMAGED: kind('SPOOL_DAMAGED', 500, INTERNAL, 'The spooled data cannot be read'),
  SOURCE_UNREACHABLE: kind('SOURCE_UNREACHABLE', 502, UNAVAILABLE, 'The source cannot be reached'),
  SOURCE_TOO_SLOW: kind('SOURCE_TOO_SLOW', 504, DEADLINE_EXCEEDED, 'The source is too slow'),
  SOURCE_STALLED: kind('SOURCE_STALLED', 504, DEADLINE_EXCEEDED, 'The source holds up others', {
    outage: 'source',
  }),
  SOURCE_STATUS: kind('SOURCE_STATUS', 502, UNAVAILABLE, 'The source answered with an error status'),
  SOURCE_TOKEN_REFUSED: kind(
    'SOURCE_TOKEN_REFUSED',
    502,
    FAILED_PRECONDITION,
    'The token server gives no token',
  ),
  SOURCE_ERROR: kind('SOURCE_ERROR', 502, FAILED_PRECONDITION, 'The source reported an error of its own'),
  SOURCE_NOT_JSON: kind('SOURCE_NOT_JSON', 502, FAILED_PRECONDITION, 'A page of the source is not JSON'),
  SOURCE_CHARSET: kind(
    'SOURCE_CHARSET',
    502,
    FAILED_PRECONDITION,
    'The source is not in the charset that it says',
  ),
  SOURCE_SHAPE: kind('SOURCE_SHAPE', 502, FAILED_PRECONDITION, 'A page of the source has the wrong shape'),
  SOURCE_SHORT_PAGE: kind(
    'SOURCE_SHORT_PAGE',
    502,
    FAILED_PRECONDITION,
    'A page of the source has too few rows',
  ),
  SOURCE_PAGE_REPEATED: kind(
    'SOURCE_PAGE_REPEATED',
    502,
    FAILED_PRECONDITION,
    'Two pages of the source have the same rows',
  ),
  SOURCE_ROWS_REPEATED: kind(
    'SOURCE_ROWS_REPEATED',
    502,
    FAILED_PRECONDITION,
    'Rows of the source have the same key',
  ),
  SOURCE_LONG_PAGE: kind(
    'SOURCE_LONG_PAGE',
    502,
    FAILED_PRECONDITION,
    'A page of the source has too many rows',
  ),
  SOURCE_ROW_HEAD_UNKNOWN: kind(
    'SOURCE_ROW_HEAD_UNKNOWN',
    502,
    FAILED_PRECONDITION,
    'The source has rows that no row header names',
  ),
  SOURCE_PAGE_TOO_LARGE: kind(
    'SOURCE_PAGE_TOO_LARGE',
    502,
    RESOURCE_EXHAUSTED,
    'A page of the source is too large',
  ),
  SOURCE_TOO_LARGE: kind(
    'SOURCE_TOO_LARGE',
    413,
    RESOURCE_EXHAUSTED,
    'The source has more data than one export may take',
  ),
  OUTPUT_UNUSABLE: kind('OUTPUT_UNUSABLE', 500, FAILED_PRECONDITION, 'The output file cannot be written'),
  BACKUP_INVALID: kind('BACKUP_INVALID', 500, FAILED_PRECONDITION, 'The backup is damaged or not whole'),
  LEDGER_NOT_EMPTY: kind(
    'LEDGER_NOT_EMPTY',
    500,
    FAILED_PRECONDITION,
    'There is a ledger where one was to be restored',
  ),
  LEDGER_IN_USE: kind('LEDGER_IN_USE', 500, FAILED_PRECONDITION, 'Instances run on the ledger'),

  // runs
  HANDLE_INVALID: kind('HANDLE_INVALID', 400, INVALID_ARGUMENT, 'This is no handle for an account'),
  ACCOUNT_NOT_FOUND: kind('ACCOUNT_NOT_FOUND', 404, NOT_FOUND, 'There is no such account'),
  ACCOUNT_LOCKED: kind('ACCOUNT_LOCKED', 409, FAILED_PRECONDITION, 'The account has a run under way'),
  RUN_ACTIVE: kind('RUN_ACTIVE', 409, FAILED_PRECONDITION, 'The account already has a run under way'),
  RUN_NOT_FOUND: kind('RUN_NOT_FOUND', 404, NOT_FOUND, 'There is no such run'),
  RUN_ENDED: kind('RUN_ENDED', 409, FAILED_PRECONDITION, 'The run has already ended'),
  FEED_INVALID: kind('FEED_INVALID', 502, FAILED_PRECONDITION, 'The feed does not have the right form'),
  FEED_FAILED: kind('FEED_FAILED', 502, UNAVAILABLE, 'The feed keeps failing'),
  FILE_INCOMPLETE: kind(
    'FILE_INCOMPLETE',
    502,
    UNAVAILABLE,
    'The file does not have the size it should have',
  ),
  ACCOUNT_FOLDER_UNSAFE: kind(
    'ACCOUNT_FOLDER_UNSAFE',
    500,
    FAILED_PRECONDITION,
    'The folder of the account is not a plain folder',
  ),

  // processing
  HANDOFF_FAILED: kind('HANDOFF_FAILED', 500, INTERNAL, 'The file could not be taken over'),
  TASK_STORE_UNAVAILABLE: kind(
    'TASK_STORE_UNAVAILABLE',
    503,
    UNAVAILABLE,
    'The task store cannot be reached',
    { outage: 'redis' },
  ),
  TASK_ENQUEUE_FAILED: kind('TASK_ENQUEUE_FAILED', 500, INTERNAL, 'The task could not be queued'),
  TASK_WITHOUT_RESULT: kind('TASK_WITHOUT_RESULT', 409, FAILED_PRECONDITION, 'The task has no result'),
  UPLOAD_LOCKED: kind('UPLOAD_LOCKED', 423, ABORTED, 'Another request is at work on the upload'),
  UPLOAD_REFUSED: kind(
    'UPLOAD_REFUSED',
    409,
    FAILED_PRECONDITION,
    'The upload is not at the offset that the request names',
  ),
  UPLOAD_NOT_FOUND: kind('UPLOAD_NOT_FOUND', 404, NOT_FOUND, 'There is no such upload'),
  PROCESSOR_FAILED: kind('PROCESSOR_FAILED', 500, INTERNAL, 'The processor command failed'),
  PROCESSOR_TIMED_OUT: kind(
    'PROCESSOR_TIMED_OUT',
    504,
    DEADLINE_EXCEEDED,
    'The processor command took too long',
  ),

  // transfers
  REPOSITORY_PATH_INVALID: kind(
    'REPOSITORY_PATH_INVALID',
    400,
    INVALID_ARGUMENT,
    'This is no path of a file to deliver',
  ),
  AGENT_NOT_FOUND: kind('AGENT_NOT_FOUND', 404, NOT_FOUND, 'There is no such agent'),
  AGENT_NOT_ALLOWED: kind('AGENT_NOT_ALLOWED', 403, PERMISSION_DENIED, 'The project may not send there'),
  TRANSFER_SIGNATURE_CLASH: kind(
    'TRANSFER_SIGNATURE_CLASH',
    409,
    ABORTED,
    'Another file has this name in the present window',
  ),
  TRANSFER_PLACE_TAKEN: kind(
    'TRANSFER_PLACE_TAKEN',
    409,
    ALREADY_EXISTS,
    'The place belongs to another owner in this window',
  ),
  TRANSFER_SOURCE_MISSING: kind(
    'TRANSFER_SOURCE_MISSING',
    404,
    NOT_FOUND,
    'The file to deliver is not in the repository',
  ),
  TRANSFER_SIGNATURE_MISMATCH: kind(
    'TRANSFER_SIGNATURE_MISMATCH',
    422,
    FAILED_PRECONDITION,
    'The file is not the one that its signature names',
  ),
  TRANSFER_ENGINE_REFUSED: kind(
    'TRANSFER_ENGINE_REFUSED',
    502,
    FAILED_PRECONDITION,
    'The transfer engine refuses the task',
  ),
  TRANSFER_ENGINE_ANSWER: kind(
    'TRANSFER_ENGINE_ANSWER',
    502,
    UNAVAILABLE,
    'The answer of the transfer engine cannot be read',
  ),
  TRANSFER_ENGINE_UNAVAILABLE: kind(
    'TRANSFER_ENGINE_UNAVAILABLE',
    503,
    FAILED_PRECONDITION,
    'The transfer engine is not part of this Wharf',
  ),
  TRANSFER_FAILED: kind('TRANSFER_FAILED', 502, ABORTED, 'The file did not reach every target'),
  TRANSFER_TIMED_OUT: kind(
    'TRANSFER_TIMED_OUT',
    504,
    DEADLINE_EXCEEDED,
    'The file did not reach every target in time',
  ),
} as const satisfies Record<string, ErrorKind>

export interface AppErrorOptions {
  cause?: unknown
  /** Members that a problem document carries besides the standard ones. */
  details?: Record<string, unknown>
  /** Seconds after which trying again makes sense. */
  retryAfter?: number
  /** false: a job that fails with this is not tried again. */
  retryable?: boolean
  /** The message in a language that a caller over HTTP may ask for; English is asked for by whoever asks for none. */
  words?: Partial<Record<'en' | 'zh', string>>
}

export class AppError extends Error {
  readonly kind: ErrorKind
  readonly details: Record<string, unknown>
  readonly retryAfter: number | undefined
  readonly retryable: boolean
  readonly words: NonNullable<AppErrorOptions['words']>

  constructor(kind: ErrorKind, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.kind = kind
    this.details = options.details ?? {}
    this.retryAfter = options.retryAfter
    this.retryable = options.retryable ?? true
    this.words = options.words ?? {}
  }

  get code(): string {
    return this.kind.code
  }
}

export function isAppError(error: unknown, kind?: ErrorKind): error is AppError {
  return error instanceof AppError && (kind === undefined || error.kind === kind)
}

/** The same error, with its place before what it says. */
export function prefixed(error: AppError, place: string): AppError {
  const { kind, message, details, retryable, retryAfter } = error
  return new AppError(kind, `${place}: ${message}`, {
    cause: error,
    details,
    retryable,
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

/** The code of any thrown value. */
export function codeOf(error: unknown): string {
  return isAppError(error) ? error.code : ERRORS.INTERNAL.code
}

/** What a person should read of any thrown value. */
/** For anybody to read: where on this machine a file is, is for the log. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, path } = error as NodeJS.ErrnoException
  return path === undefined || !('syscall' in error) ? message : (message.split(` '${path}'`)[0] ?? message)
}
