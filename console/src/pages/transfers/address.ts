/** A job's id holds slashes, and any character a path may have: it is in the query. */
export function jobAddress(jobId: string): string {
  return `/transfers/job?${new URLSearchParams({ id: jobId })}`
}

export function jobIdIn(search: string): string {
  return new URLSearchParams(search).get('id') ?? ''
}
