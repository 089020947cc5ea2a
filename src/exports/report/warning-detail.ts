import { type Static, Type } from 'typebox'
import { nullable } from '../../jobs/index.ts'
import { WARNINGS, type WarningCode, type WarningValue, warningSentence } from '../warnings/index.ts'

/** A warning as the API has it. */
export type WarningDetail = Static<typeof WarningDetail>
export const WarningDetail = Type.Object(
  {
    code: nullable(
      Type.String({ description: 'stable; null: of an earlier version, which kept only the sentence' }),
    ),
    table: nullable(
      Type.String({ description: 'the name of the sheet that it is about, where there are several' }),
    ),
    values: Type.Unsafe<Readonly<Record<string, WarningValue>>>({
      type: 'object',
      additionalProperties: true,
      description: 'what the sentence is made from, by name: texts, numbers and lists of texts',
    }),
    message: Type.String({ description: 'the sentence in English, as in `warnings`' }),
  },
  {
    title: 'ExportWarning',
    examples: [
      {
        code: 'COLUMN_MISSPELT',
        table: null,
        values: { column: 'Nmae', meant: 'Name' },
        message: 'no row has a value for column Nmae; did you mean Name?',
      },
    ],
  },
)

/** What is kept of a warning beside its sentence. */
export type KeptWarning = Omit<WarningDetail, 'message'>

/** Sentences and what is kept beside them, in one list. Records of earlier versions have the sentences alone. */
export function warningDetails(
  sentences: readonly string[],
  kept: readonly KeptWarning[] = [],
): WarningDetail[] {
  return sentences.map((message, index) => ({
    ...(kept[index] ?? { code: null, table: null, values: {} }),
    message,
  }))
}

/** In each language that people are notified in. What this version does not know is said in English. */
export function warningWords({ code, table, values, message }: WarningDetail): Record<'en' | 'zh', string> {
  if (code === null || !Object.hasOwn(WARNINGS, code)) return { en: message, zh: message }
  const zh = warningSentence('zh', code as WarningCode, values)
  return { en: message, zh: table === null ? zh : `${table}：${zh}` }
}
