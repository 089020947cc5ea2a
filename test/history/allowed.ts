const ASKED_BY_PEOPLE =
  'it is asked by people, not per task, and goes from the newest row back until its page is full'

/** Statements that may read more than they answer, each with its reason. Keep this list short. */
export const ALLOWED: { statement: RegExp; reason: string }[] = [
  {
    statement: /from "export_list" .* like \? escape .* limit \?$/,
    reason: `a search in the names of exports: ${ASKED_BY_PEOPLE}`,
  },
  {
    statement: /^select count\(\*\) as "count" from \(select .* from "export_list".* limit \?\) as "some"$/,
    reason: 'a total: it is asked by people, and counts 10,000 entries of an index at most',
  },
  {
    statement: /from "transfer_windows" where (?!.*'Pending').*"status" = \? .*limit \?$/,
    reason: `deliveries by how they ended: ${ASKED_BY_PEOPLE}`,
  },
  {
    statement: /from "processing_tasks" left join "jobs" .* where (?!.*'PENDING').*"status" = \? .*limit \?$/,
    reason: `tasks by how they ended: ${ASKED_BY_PEOPLE}`,
  },
  {
    statement: /from "repository_files" .*substr\(path, .*limit \?$/,
    reason: `files by the beginning of their path: ${ASKED_BY_PEOPLE}`,
  },
]
