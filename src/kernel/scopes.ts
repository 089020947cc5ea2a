/**
 * What a key is good for. `all` is everything that a project may do, `read` is looking at it. `runs` and `admin` reach beyond
 * the project, so `all` does not include them. The last three are what earlier versions called `exports:*` and so on.
 */
export const SCOPES = [
  'all',
  'read',
  'exports:read',
  'exports:write',
  'exports:*',
  'transfers:read',
  'transfers:write',
  'transfers:*',
  'processing:read',
  'processing:write',
  'processing:*',
  'runs:read',
  'runs:write',
  'runs:*',
  'admin',
  'exports',
  'transfers',
  'processing',
] as const
export type Scope = (typeof SCOPES)[number]
