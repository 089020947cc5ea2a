import type { Ledger, Tx } from '../../ledger/index.ts'
import type { FileReport } from './file-report.ts'

/** The reports of finished exports. Apart from their results, which every list reads. */
export class ExportReports {
  readonly #ledger: Ledger

  constructor({ ledger }: { ledger: Ledger }) {
    this.#ledger = ledger
  }

  async find(jobId: string): Promise<FileReport | undefined> {
    const row = await this.#ledger.db
      .selectFrom('export_reports')
      .select('report')
      .where('job_id', '=', jobId)
      .executeTakeFirst()
    return row && (JSON.parse(row.report) as FileReport)
  }
}

/** With the end of its job. An export that is tried again after its end is reported anew. */
export async function keepReport(tx: Tx, jobId: string, report: FileReport): Promise<void> {
  await tx.db.deleteFrom('export_reports').where('job_id', '=', jobId).execute()
  await tx.db
    .insertInto('export_reports')
    .values({ job_id: jobId, report: JSON.stringify(report) })
    .execute()
}
