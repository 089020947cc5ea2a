// What the API answers with, as types: out of the very schemas that the server writes its answers by. Nothing of this
// exists at run time, so that the console can take it without a line of the server.
import type { Static } from 'typebox'
import type {
  AskedFor as AskedForSchema,
  CellType,
  ConnectionView,
  Download,
  ExportPosition,
  ExportReport,
  ExportView,
  HttpSource,
  Mask,
  Preview,
  SavedExport as SavedExportSchema,
  SavedRun as SavedRunSchema,
  StoredTemplate as StoredTemplateSchema,
  TablePreview,
  TemplateSummary as TemplateSummarySchema,
  Total,
} from '../exports/index.ts'
import type { Delivery, DeliveryPage as DeliveryPageSchema, EventMessage } from '../notify/index.ts'
import type { TaskLogView, TaskView } from '../processing/index.ts'
import type * as runs from '../runs/index.ts'
import type {
  AuditEntry,
  KeyView,
  ListedSession,
  NewKey,
  NewProjectView,
  ProjectView,
  Rotated,
} from '../tenancy/index.ts'
import type * as transfers from '../transfers/index.ts'
import type * as exported from './routes/exports/export-schemas.ts'
import type {
  AttentionAnswer,
  HealthAnswer,
  HistoryAnswer,
  OverviewAnswer,
} from './routes/installation/overview-answers.ts'
import type { TaskPage } from './routes/processing/processing.ts'
import type * as runBulk from './routes/runs/run-bulk.ts'
import type * as shared from './routes/schemas.ts'
import type * as projects from './routes/tenancy/project-schemas.ts'
import type * as sessions from './routes/tenancy/session-schemas.ts'

export type {
  AuditEntry,
  EventMessage,
  ExportReport,
  ListedSession,
  Mask,
  NewKey,
  Preview,
  Rotated,
  TablePreview,
  TaskPage,
}

export type ColumnType = CellType
export type ColumnTotal = Total
export type HttpPreset = NonNullable<HttpSource['preset']>
export type PagingStyle = NonNullable<NonNullable<HttpSource['paging']>['style']>
export type ExportTask = ExportView
export type ExportPage = Static<typeof exported.ExportPage>
export type ExportBulkRequest = Static<typeof exported.BulkRequest>
export type ExportBulkAnswer = Static<typeof exported.BulkAnswer>
export type ExportPlace = ExportPosition
export type ExportDelivery = Delivery
export type AskedFor = Static<typeof AskedForSchema>
export type GrantedConnection = Pick<ConnectionView, 'name' | 'driver'>
export type SavedExport = Static<typeof SavedExportSchema>
export type SavedRun = Static<typeof SavedRunSchema>
export type StoredTemplate = Static<typeof StoredTemplateSchema>
export type TemplateSummary = Static<typeof TemplateSummarySchema>
export type ExportDownload = Download

export type TransferJob = Static<typeof transfers.TransferJob>
export type TransferItem = Static<typeof transfers.TransferItem>
export type TransferPage = Static<typeof transfers.TransferPage>
export type TransferRequest = Static<typeof transfers.TransferRequestBody>
export type TransferAccepted = Static<typeof transfers.TransferAccepted>
export type Redelivery = Static<typeof transfers.Redelivery>
export type KnownAgent = Static<typeof transfers.KnownAgent>
export type RepositoryFile = Static<typeof transfers.RepositoryFileView>
export type RepositoryPage = Static<typeof transfers.RepositoryPage>

export type Account = Static<typeof runs.Account>
export type AccountFilePage = Static<typeof runs.AccountFilePage>
export type FailedFilePage = Static<typeof runs.FailedFilePage>
export type Run = Static<typeof runs.Run>
export type RunPage = Static<typeof runs.RunPage>
export type RunLogPage = Static<typeof runs.RunLogPage>
export type RunsState = Static<typeof runs.RunsState>
export type AcceptedRun = Static<typeof runs.ShortRun>
export type RunKind = Static<typeof runs.RunKind>
export type RunBulkRequest = Static<typeof runBulk.BulkRequest>
export type RunBulkAnswer = Static<typeof runBulk.BulkAnswer>

export type Task = TaskView
export type TaskLog = TaskLogView

export type Overview = OverviewAnswer
export type OverviewHistory = HistoryAnswer
export type Attention = AttentionAnswer
export type Health = HealthAnswer
export type Project = ProjectView
export type ProjectDetails = Static<typeof projects.ProjectDetails>
export type ProjectChanges = Static<typeof projects.ProjectChanges>
export type NewProject = NewProjectView
export type Key = KeyView
export type Connection = ConnectionView
export type DeliveryPage = Static<typeof DeliveryPageSchema>
export type Enrollment = Static<typeof transfers.Enrollment>
export type Session = Static<typeof sessions.SessionView>
export type SignInMethods = Static<typeof sessions.SignInMethods>
export type Ticket = Static<typeof shared.Ticket>
