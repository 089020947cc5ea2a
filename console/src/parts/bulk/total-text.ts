export interface Total {
  count: number
  exact: boolean
}

/** "1,234", or "10,000+" where counting stopped. */
export function totalText({ count, exact }: Total, number: (value: number) => string): string {
  return exact ? number(count) : `${number(count)}+`
}
