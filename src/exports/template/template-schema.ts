import { Type } from 'typebox'
import { MASKS } from '../sheet/index.ts'
import { TOTALS, TYPES } from './nodes/column-node.ts'
import { ALIGN, V_ALIGN } from './nodes/node-style.ts'

/**
 * Templates, headers and footers as the API document shows them. `parseTemplate` and `parseHeader` decide: they name the
 * place of a mistake, and take some looser forms (sizes as text, 0 and 1 as flags, PHP's lists with gaps) too.
 */
const Text = Type.Union([Type.String(), Type.Number()])
const Color = Type.String({
  description: '3 or 6 hex digits, with or without #, or black, white, red, green, blue, yellow, cyan',
})
const Fill = Type.Union([Color, Type.Boolean()], { description: 'true: light grey; false: no fill' })

const look = {
  align: Type.Optional(Type.Enum([...ALIGN], { description: 'Default center' })),
  'v-align': Type.Optional(Type.Enum([...V_ALIGN], { description: 'Default middle' })),
  bold: Type.Optional(Type.Boolean()),
  color: Type.Optional(Color),
  bg_color: Type.Optional(Fill),
}

/** The document holds it once, so a tree can refer to itself. */
const listOf = (name: string) => Type.Array(Type.Unsafe<unknown>({ $ref: `#/components/schemas/${name}` }))

const ConditionStyle = Type.Object(
  {
    condition: Type.String({ maxLength: 2_000, description: "Such as `>= 0 or = 'paid'`" }),
    color: Type.Optional(Color),
    bold: Type.Optional(Type.Boolean()),
    bg_color: Type.Optional(Fill),
  },
  { title: 'ConditionStyle', additionalProperties: false },
)

const TemplateColumn = Type.Object(
  {
    name: Type.Optional(
      Type.Union([Type.String(), Type.Number()], {
        description: 'Key in the rows, or a path into an object; `_` or nothing: an empty column',
      }),
    ),
    title: Type.Optional(Type.Union([Type.String(), Type.Number()], { description: 'Default: the name' })),
    children: Type.Optional(listOf('TemplateColumn')),
    type: Type.Optional(Type.Enum([...TYPES], { description: 'Default auto' })),
    format: Type.Optional(Type.String({ maxLength: 255, description: 'An Excel number format' })),
    width: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 255, description: 'Characters' })),
    height: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 409, description: 'Points' })),
    wrap: Type.Optional(Type.Boolean({ description: 'Default true for auto and string' })),
    mask: Type.Optional(Type.Enum([...MASKS], { description: 'Hides the values' })),
    totals: Type.Optional(Type.Enum([...TOTALS], { description: 'What the last row shows' })),
    condition_style: Type.Optional(
      Type.Union([ConditionStyle, Type.Array(ConditionStyle, { maxItems: 64 })], {
        description: 'The first condition that holds gives the style',
      }),
    ),
    ...look,
  },
  {
    title: 'TemplateColumn',
    additionalProperties: false,
    description: 'With children a group, without a column. It needs a name or a title.',
  },
)

const TemplateRow = Type.Object(
  {
    name: Type.Optional(Text),
    title: Type.Optional(Text),
    children: Type.Optional(listOf('TemplateRow')),
    row_count: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_048_576, description: 'Rows kept free at least' }),
    ),
    ...look,
  },
  {
    title: 'TemplateRow',
    additionalProperties: false,
    description: 'A row header; the name of a leaf is the key of its rows. It needs a name or a title.',
  },
)

const Columns = Type.Array(TemplateColumn)
const Titles = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()]), {
  title: 'TemplateTitles',
  description: 'The short form: key in the rows → title',
})

const TemplateTree = Type.Object(
  {
    ceil: Type.Optional(Columns),
    col: Type.Optional(Columns),
    row: Type.Optional(Type.Array(TemplateRow)),
    subtotals: Type.Optional(Type.Boolean({ description: 'Each row header has a row of totals' })),
  },
  {
    title: 'TemplateTree',
    additionalProperties: false,
    description: 'With row headers. `ceil` and `col` are two names for the columns; give one of them.',
  },
)

const NamedTemplate = Type.Object(
  { use: Type.String({ description: 'The name of a stored template' }) },
  { title: 'NamedTemplate', additionalProperties: false },
)

export const TemplateSchema = Type.Union([Columns, TemplateTree, NamedTemplate, Titles, Type.Null()], {
  title: 'Template',
  description: 'Which keys of the rows become columns, and how they look; see docs/templates.md',
})

const PairValue = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])
const Pairs = Type.Record(Type.String(), PairValue, {
  title: 'HeaderPairs',
  description: 'Label → value',
})
const Pair = Type.Array(PairValue, {
  minItems: 2,
  maxItems: 2,
  title: 'HeaderPair',
  description: 'A label and its value',
})

/** Also of a footer. */
export const HeaderSchema = Type.Union(
  [
    Type.String({ description: 'A text, laid out like the summary' }),
    Pairs,
    Type.Array(Pair, { maxItems: 1_000 }),
    Type.Array(Pairs, { maxItems: 1_000 }),
    Type.Array(Type.Array(Pair), { maxItems: 1_000 }),
    Type.Null(),
  ],
  { description: 'Labels with values: spread evenly, or row by row as given; or a text' },
)
