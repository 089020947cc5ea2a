/** A condition as plain data, the cell's value being the silent left side of every comparison. */
export type Condition =
  | { op: '>' | '>=' | '<' | '<=' | '=' | '!='; value: string | number | boolean | null }
  | { op: 'in'; values: (string | number | boolean | null)[] }
  | { op: 'like'; pattern: string }
  | { op: 'and' | 'or'; left: Condition; right: Condition }
  | { op: 'not'; inner: Condition }
