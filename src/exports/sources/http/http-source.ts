import { type Static, Type } from 'typebox'
import { byKind } from '../by-kind.ts'

/** Rows that one request may ask for. */
const MOST_ROWS_PER_PAGE = 10_000

/** Ways of asking for more rows. */
const PAGING_STYLES = ['page', 'offset', 'cursor', 'link', 'none'] as const
export type PagingStyle = (typeof PAGING_STYLES)[number]

export const PRESETS = [
  'wharf',
  'drf',
  'spring',
  'laravel',
  'postgrest',
  'odata',
  'jsonapi',
  'links',
  'elasticsearch',
  'ndjson',
  'csv',
] as const
export type Preset = (typeof PRESETS)[number]

const Place = (description: string) => Type.String({ maxLength: 1_000, description })
const NAME = { minLength: 1, maxLength: 200 }
const Parameter = Type.String(NAME)
const Address = Type.String({ minLength: 1, maxLength: 16_384 })
const Secret = Type.String({ maxLength: 16_384 })

const Paging = Type.Object(
  {
    style: Type.Optional(Type.Enum([...PAGING_STYLES])),
    page_param: Type.Optional(
      Type.String({ ...NAME, description: 'Of the number of the page, or of the offset' }),
    ),
    size_param: Type.Optional(Parameter),
    first: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'Number of the first page, or the first offset',
      }),
    ),
    cursor_param: Type.Optional(Parameter),
    cursor: Type.Optional(
      Place(
        'Where the next cursor is; with the style link the next address, which else is that of the Link header',
      ),
    ),
    size: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST_ROWS_PER_PAGE, description: 'Rows per page' }),
    ),
  },
  { title: 'SourcePaging', additionalProperties: false },
)

export type HttpAuth = Static<typeof Auth>
const Auth = byKind([
  Type.Object(
    { kind: Type.Literal('basic'), username: Secret, password: Secret },
    { title: 'BasicAuth', additionalProperties: false },
  ),
  Type.Object(
    {
      kind: Type.Literal('oauth2'),
      token_url: Address,
      client_id: Secret,
      client_secret: Secret,
      scope: Type.Optional(Type.String({ maxLength: 4_000 })),
    },
    {
      title: 'OAuth2Auth',
      additionalProperties: false,
      description: 'Client credentials; the token is fetched anew when it ends',
    },
  ),
])

/** An endpoint of any common shape, as it is asked for over the wire. */
export type HttpSource = Omit<Static<typeof HttpSource>, 'kind'>
export const HttpSource = Type.Object(
  {
    kind: Type.Literal('http'),
    url: Address,
    method: Type.Optional(Type.Enum(['GET', 'POST'])),
    body: Type.Optional(
      Type.Unknown({ description: '{{page}}, {{page_size}} and {{cursor}} in its texts are filled in' }),
    ),
    headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Stored sealed' })),
    auth: Type.Optional(Auth),
    preset: Type.Optional(Type.Enum([...PRESETS])),
    rows: Type.Optional(Place('Where the list of rows is: keys joined by dots; empty: the answer itself')),
    total: Type.Optional(
      Type.Union([Place('Where the number of all rows is, or header:NAME'), Type.Null()], {
        description: 'null: it is not known',
      }),
    ),
    paging: Type.Optional(Paging),
    short_lines: Type.Optional(
      Type.Enum(['fail', 'fill'], {
        description:
          'With the preset csv, a line with fewer fields than the first one: it ends the export (fail, the default), or what it lacks is null (fill), with a warning',
      }),
    ),
  },
  {
    title: 'HttpSource',
    additionalProperties: false,
    description: 'An endpoint of any common shape, in place of source_url; see docs/sources.md',
  },
)
