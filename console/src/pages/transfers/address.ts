/** A job's id holds slashes, and any character a path may have: it stands in the query, where nobody decodes it early. */
export function jobAddress(jobId: string): string {
  return `/transfers/job?${new URLSearchParams({ id: jobId })}`
}

export function jobIdInAddress(): string {
  return new URLSearchParams(window.location.search).get('id') ?? ''
}
