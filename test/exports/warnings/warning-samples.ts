import type { WarningCode, WarningValues } from '../../../src/exports/warnings/index.ts'

const count = 2_000
const inColumn = { column: 'a "quoted" name', count }
const inSheet = { sheet: 'March', count }
const key = ['shop', 'id']
const inParquet = { column: 'amount', type: 'integer' }
const repeated = { count, key, row: 1_401, first_row: 1_400 }

/** Every kind of warning with values such as it has, and the sentence that the API has for them. A kind without one does not compile. */
export const SAMPLES: { [C in WarningCode]: [values: WarningValues<C>, message: string] } = {
  CALLBACK_GIVEN_UP: [{}, 'the callback could not be delivered, and is not tried again; see the deliveries'],
  STARTED_ANEW_ELSEWHERE: [
    {},
    'the export was broken off and started anew: there is no earlier fetch on this instance',
  ],
  STARTED_ANEW_NOTES_DAMAGED: [
    {},
    'the export was broken off and started anew: the notes of the earlier fetch are damaged',
  ],
  STARTED_ANEW_TOO_OLD: [{}, 'the export was broken off and started anew: the earlier fetch is too old'],
  STARTED_ANEW_TOTAL_CHANGED: [
    { before: 1_000, total: 1_001 },
    "the export was broken off and started anew: the source's total changed from 1000 to 1001",
  ],
  STARTED_ANEW_PAGE_SIZE_CHANGED: [{}, 'the export was broken off and started anew: the page size changed'],
  STARTED_ANEW_COLUMNS_CHANGED: [{}, 'the export was broken off and started anew: the columns changed'],
  STARTED_ANEW_KEY_CHANGED: [{}, 'the export was broken off and started anew: the key changed'],
  STARTED_ANEW_SEGMENT_DAMAGED: [
    {},
    'the export was broken off and started anew: a segment of the earlier fetch is missing or damaged',
  ],
  STARTED_ANEW_ROWS_COME_ONCE: [
    {},
    'the export was broken off and started anew: rows that come once cannot be taken up where they broke off',
  ],
  CSV_UNUSED: [
    { type: 'excel' },
    'csv is for files of the type csv; it changes nothing in one of the type excel',
  ],
  TEMPLATE_OVERRULED: [
    {},
    'the source sent a template, which was used in place of the one in the request; template_from: "request" turns that round',
  ],
  NO_ROWS_NO_COLUMNS: [{}, 'the source has no rows, and without a template the file has no columns'],
  NO_KEYS_NO_COLUMNS: [
    {},
    'the rows of the source have no keys, and without a template the file has no columns',
  ],
  NO_KEYS_AT_FIRST: [
    { rows: 20 },
    'no keys in the 20 rows of the preview, so without a template it has no columns; later rows may have some',
  ],
  TOTAL_CHANGED: [
    { before: 1_000, total: 1_001, page: 4 },
    "the source's total changed from 1000 to 1001 while it was read (page 4), the first one counts",
  ],
  MORE_NOT_READ: [
    { member: 'has_more', rows: 20 },
    "the source says by 'has_more' that it has more than the 20 rows that were read; see paging of the source",
  ],
  ROWS_BEYOND_TOTAL: [
    { total: 1_345, count: 55 },
    'the source stated a total of 1345 rows; 55 more rows of the last page were left out',
  ],
  TOTAL_NOT_MET: [{ total: 100, rows: 95 }, 'the source stated a total of 100 rows, and its pages had 95'],
  PAGES_REPEATED: [{ count }, '2000 pages have the same rows as an earlier page'],
  ROWS_REPEATED: [
    repeated,
    '2000 rows repeat the shop, id of an earlier row, the first being row 1401, like row 1400',
  ],
  ROWS_REPEATED_ACROSS_PAGES: [
    { ...repeated, across_pages: 7 },
    '2000 rows repeat the shop, id of an earlier row (7 from another page, as when rows are added or removed while they are read), the first being row 1401, like row 1400',
  ],
  KEY_IN_NO_ROW: [{ key }, 'no row has a value for the key shop, id, so rows that repeat cannot be found'],
  KEY_NOT_AT_FIRST: [
    { key, rows: 20 },
    'no value for the key shop, id in the 20 rows of the preview; later rows may have one',
  ],
  ROWS_WITHOUT_KEY: [{ count, key }, '2000 rows have no shop, id'],
  CSV_LINES_FILLED: [
    { count, line: 3 },
    '2000 lines of the CSV have fewer fields than the first line, beginning with line 3; what they lack is empty',
  ],
  CSV_MAY_BE_CUT: [
    { line: 1_234 },
    'the source stated no length and its last line, line 1234, may be cut: it has no line end',
  ],
  COLUMN_EMPTY: [{ column: 'Nmae' }, 'no row has a value for column Nmae'],
  COLUMN_MISSPELT: [
    { column: 'Nmae', meant: 'Name' },
    'no row has a value for column Nmae; did you mean Name?',
  ],
  COLUMN_EMPTY_AT_FIRST: [
    { column: 'Nmae', rows: 20 },
    'no value for column Nmae in the 20 rows of the preview; later rows may have one',
  ],
  COLUMN_MISSPELT_AT_FIRST: [
    { column: 'Nmae', meant: 'Name', rows: 1 },
    'no value for column Nmae in the 1 row of the preview; did you mean Name?',
  ],
  HALF_CHARACTERS: [
    inColumn,
    'column "a "quoted" name": 2000 texts have half a character (a lone surrogate), shown as \ufffd',
  ],
  VALUES_OF_OTHER_TYPE: [
    { ...inColumn, type: 'integer' },
    'column "a "quoted" name": 2000 values are not of the type integer',
  ],
  MASKED_COLUMN: [
    { column: 'a "quoted" name' },
    'column "a "quoted" name" has a mask, so its values are texts, whatever its type, and have no total but a count',
  ],
  NUMBERS_AS_TEXT: [
    inColumn,
    'column "a "quoted" name": 2000 numbers have more than the 15 digits that Excel keeps: text, with every digit',
  ],
  NUMBERS_ROUNDED: [
    inColumn,
    'column "a "quoted" name": 2000 numbers were rounded to the 15 digits that Excel keeps, which changes the cents; the type string keeps every digit',
  ],
  FORMULAS_ESCAPED: [
    inColumn,
    'column "a "quoted" name": 2000 texts look like a formula and got an apostrophe; csv: {"formulas": "keep"} leaves it out',
  ],
  CHARACTERS_NOT_IN_ENCODING: [
    { count, encoding: 'windows-1252', character: '字', code_point: 'U+5B57' },
    '2000 characters are not in windows-1252 and shown as "?", the first being "字" (U+5B57)',
  ],
  TITLES_REPEATED: [
    { titles: ['G / X', 'Sum'] },
    'several columns of the file have the same title: G / X, Sum; programs that read it by title find only one of them',
  ],
  COLUMNS_ONCE: [
    { columns: ['amount', 'day'], type: 'parquet' },
    'the template shows a key in several columns, and a file of the type parquet has it once: amount, day',
  ],
  SHEET_RENAMED: [
    { asked: 'A/B', sheet: 'A_B' },
    'the sheet "A/B" is named "A_B": Excel does not take the name as it is',
  ],
  TEXTS_CUT: [
    { ...inSheet, cell: 'A2' },
    'sheet "March": 2000 texts were longer than 32,767 characters and cut there, the first in A2',
  ],
  LINKS_AS_TEXT: [
    inSheet,
    'sheet "March": 2000 addresses are plain texts, because a sheet may have 65,530 links',
  ],
  TOTAL_LEAVES_OUT: [
    { ...inSheet, column: 'B', total: 'avg' },
    'sheet "March": in column B 2000 values are no numbers, and the avg below it leaves them out',
  ],
  CONTROL_CHARACTERS: [
    { ...inSheet, cell: 'A2' },
    'sheet "March": 2000 texts have control characters, which a workbook cannot hold; they are shown as \u2400 to \u241f, the first in A2',
  ],
  NO_CHARACTERS: [
    { ...inSheet, cell: 'A2' },
    'sheet "March": 2000 texts have U+FFFE or U+FFFF, which are no characters; they are shown as \ufffd, the first in A2',
  ],
  PARQUET_MIXED_TYPES: [
    inParquet,
    'column "amount" holds values of different types, so it is text in the Parquet file',
  ],
  PARQUET_OTHER_TYPE: [
    inParquet,
    'column "amount" holds values that are not of the type integer, so it is text in the Parquet file',
  ],
  PARQUET_TOO_MANY_DIGITS: [
    inParquet,
    'column "amount" holds numbers with more digits than a Parquet number has, so it is text in the Parquet file',
  ],
  PARQUET_MIXED_TIMES: [
    inParquet,
    'column "amount" holds times with an offset from UTC and times without one, so it is text in the Parquet file',
  ],
}
