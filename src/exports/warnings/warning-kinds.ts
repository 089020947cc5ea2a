import { counted } from '../../kernel/index.ts'
import { listed, shown, totalName, typeName } from './chinese-words.ts'

/** What a sentence is made from. */
export type WarningValue = string | number | readonly string[]

interface WarningKind<V> {
  /** As the API has always said it: programs may compare it. */
  en(values: V): string
  zh(values: V): string
}

function kind<V extends object = Record<never, never>>(
  en: (values: V) => string,
  zh: (values: V) => string,
): WarningKind<V> {
  return { en, zh }
}

function startedAnew<V extends object = Record<never, never>>(
  en: (values: V) => string,
  zh: (values: V) => string,
): WarningKind<V> {
  return kind<V>(
    (values) => `the export was broken off and started anew: ${en(values)}`,
    (values) => `导出曾中断并重新开始：${zh(values)}`,
  )
}

/** A column of a Parquet file that is text, though that is not what was asked for. */
function textColumn(
  en: (values: ParquetColumnValues) => string,
  zh: (values: ParquetColumnValues) => string,
): WarningKind<ParquetColumnValues> {
  return kind<ParquetColumnValues>(
    (values) => `column "${values.column}" ${en(values)}, so it is text in the Parquet file`,
    (values) => `列“${values.column}”${zh(values)}，因此在 Parquet 文件中为文本`,
  )
}

type ParquetColumnValues = { column: string; type: string }
/** `title`: of the column, where several show the same key. */
type InColumn = { column: string; title?: string; count: number }
type InSheet = { sheet: string; count: number }
type FirstInSheet = InSheet & { cell: string }
type Repeated = { count: number; key: readonly string[]; row: number; first_row: number }

/**
 * The one table of warnings: what is worth knowing about a file that was made. Whoever warns calls `warn` with a code and its
 * values. `docs/exports.md` lists the same codes, the console has the same sentences, and tests compare them.
 */
export const WARNINGS = {
  CALLBACK_GIVEN_UP: kind(
    () => 'the callback could not be delivered, and is not tried again; see the deliveries',
    () => '回调未能送达，不再重试；请查看回调记录',
  ),
  STARTED_ANEW_ELSEWHERE: startedAnew(
    () => 'there is no earlier fetch on this instance',
    () => '本实例上没有之前的读取结果',
  ),
  STARTED_ANEW_NOTES_DAMAGED: startedAnew(
    () => 'the notes of the earlier fetch are damaged',
    () => '之前读取的记录已损坏',
  ),
  STARTED_ANEW_TOO_OLD: startedAnew(
    () => 'the earlier fetch is too old',
    () => '之前的读取结果已过期',
  ),
  STARTED_ANEW_TOTAL_CHANGED: startedAnew<{ before: number; total: number }>(
    ({ before, total }) => `the source's total changed from ${before} to ${total}`,
    ({ before, total }) => `数据源的总行数由 ${shown(before)} 变为 ${shown(total)}`,
  ),
  STARTED_ANEW_PAGE_SIZE_CHANGED: startedAnew(
    () => 'the page size changed',
    () => '每次请求的行数已改变',
  ),
  STARTED_ANEW_COLUMNS_CHANGED: startedAnew(
    () => 'the columns changed',
    () => '列已改变',
  ),
  STARTED_ANEW_KEY_CHANGED: startedAnew(
    () => 'the key changed',
    () => '标识行的列已改变',
  ),
  STARTED_ANEW_SEGMENT_DAMAGED: startedAnew(
    () => 'a segment of the earlier fetch is missing or damaged',
    () => '之前读取的部分数据缺失或已损坏',
  ),
  STARTED_ANEW_ROWS_COME_ONCE: startedAnew(
    () => 'rows that come once cannot be taken up where they broke off',
    () => '只能读取一次的数据无法从中断处继续',
  ),
  CSV_UNUSED: kind<{ type: string }>(
    ({ type }) => `csv is for files of the type csv; it changes nothing in one of the type ${type}`,
    ({ type }) => `csv 设置只用于 csv 类型的文件，对 ${type} 类型的文件不起作用`,
  ),
  TEMPLATE_OVERRULED: kind(
    () =>
      'the source sent a template, which was used in place of the one in the request; template_from: "request" turns that round',
    () => '数据源自带模板，已代替请求中的模板；如需使用请求中的模板，请设置 template_from: "request"',
  ),
  NO_ROWS_NO_COLUMNS: kind(
    () => 'the source has no rows, and without a template the file has no columns',
    () => '数据源没有数据行，又没有模板，因此文件没有列',
  ),
  NO_KEYS_NO_COLUMNS: kind(
    () => 'the rows of the source have no keys, and without a template the file has no columns',
    () => '数据源的行没有字段，又没有模板，因此文件没有列',
  ),
  NO_KEYS_AT_FIRST: kind<{ rows: number }>(
    ({ rows }) =>
      `no keys ${inFirst(rows)}, so without a template it has no columns; later rows may have some`,
    ({ rows }) => `预览的 ${shown(rows)} 行没有字段，又没有模板，因此预览没有列；后面的行可能有`,
  ),
  TOTAL_CHANGED: kind<{ before: number; total: number; page: number }>(
    ({ before, total, page }) =>
      `the source's total changed from ${before} to ${total} while it was read (page ${page}), the first one counts`,
    ({ before, total, page }) =>
      `读取期间数据源的总行数由 ${shown(before)} 变为 ${shown(total)}（第 ${shown(page)} 页），以最初的为准`,
  ),
  TOTAL_NOT_MET: kind<{ total: number; rows: number }>(
    ({ total, rows }) => `the source stated a total of ${counted(total, 'row')}, and its pages had ${rows}`,
    ({ total, rows }) => `数据源声明共 ${shown(total)} 行，各页实际共 ${shown(rows)} 行`,
  ),
  ROWS_BEYOND_TOTAL: kind<{ total: number; count: number }>(
    ({ total, count }) =>
      `the source stated a total of ${counted(total, 'row')}; ${counted(count, 'more row of the last page was', 'more rows of the last page were')} left out`,
    ({ total, count }) => `数据源声明共 ${shown(total)} 行；最后一页多出的 ${shown(count)} 行未导出`,
  ),
  MORE_NOT_READ: kind<{ member: string; rows: number }>(
    ({ member, rows }) =>
      `the source says by '${member}' that it has more than the ${counted(rows, 'row')} that were read; see paging of the source`,
    ({ member, rows }) =>
      `数据源以“${member}”表示还有更多数据，只读取了 ${shown(rows)} 行；请检查数据源的分页设置`,
  ),
  PAGES_REPEATED: kind<{ count: number }>(
    ({ count }) => `${counted(count, 'page has', 'pages have')} the same rows as an earlier page`,
    ({ count }) => `${shown(count)} 页的数据行与之前某页相同`,
  ),
  ROWS_REPEATED: kind<Repeated>(
    ({ count, key, row, first_row }) =>
      `${repeating(count, key)}, the first being row ${row}, like row ${first_row}`,
    ({ count, key, row, first_row }) =>
      `${shown(count)} 行的 ${listed(key)} 与之前的行重复，首先是第 ${shown(row)} 行，与第 ${shown(first_row)} 行相同`,
  ),
  ROWS_REPEATED_ACROSS_PAGES: kind<Repeated & { across_pages: number }>(
    ({ count, key, row, first_row, across_pages }) =>
      `${repeating(count, key)} (${across_pages} from another page, as when rows are added or removed while they are read), the first being row ${row}, like row ${first_row}`,
    ({ count, key, row, first_row, across_pages }) =>
      `${shown(count)} 行的 ${listed(key)} 与之前的行重复（其中 ${shown(across_pages)} 行来自其他页，可能是读取期间有行增减），首先是第 ${shown(row)} 行，与第 ${shown(first_row)} 行相同`,
  ),
  KEY_IN_NO_ROW: kind<{ key: readonly string[] }>(
    ({ key }) => `no row has a value for the key ${key.join(', ')}, so rows that repeat cannot be found`,
    ({ key }) => `没有任何行含有标识列 ${listed(key)} 的值，因此无法找出重复的行`,
  ),
  KEY_NOT_AT_FIRST: kind<{ key: readonly string[]; rows: number }>(
    ({ key, rows }) => `no value for the key ${key.join(', ')} ${inFirst(rows)}; later rows may have one`,
    ({ key, rows }) => `预览的 ${shown(rows)} 行中没有标识列 ${listed(key)} 的值，后面的行可能有`,
  ),
  ROWS_WITHOUT_KEY: kind<{ count: number; key: readonly string[] }>(
    ({ count, key }) => `${counted(count, 'row has', 'rows have')} no ${key.join(', ')}`,
    ({ count, key }) => `${shown(count)} 行没有 ${listed(key)}`,
  ),
  CSV_LINES_FILLED: kind<{ count: number; line: number }>(
    ({ count, line }) =>
      `${counted(count, 'line of the CSV has', 'lines of the CSV have')} fewer fields than the first line, beginning with line ${line}; what they lack is empty`,
    ({ count, line }) =>
      `CSV 有 ${shown(count)} 行的字段少于首行，从第 ${shown(line)} 行开始；缺少的字段为空`,
  ),
  CSV_MAY_BE_CUT: kind<{ line: number }>(
    ({ line }) =>
      `the source stated no length and its last line, line ${line}, may be cut: it has no line end`,
    ({ line }) => `数据源未声明长度，最后一行（第 ${shown(line)} 行）没有换行符，可能不完整`,
  ),
  COLUMN_EMPTY: kind<{ column: string }>(
    ({ column }) => `no row has a value for column ${column}`,
    ({ column }) => `没有任何行含有列“${column}”的值`,
  ),
  COLUMN_MISSPELT: kind<{ column: string; meant: string }>(
    ({ column, meant }) => `no row has a value for column ${column}; did you mean ${meant}?`,
    ({ column, meant }) => `没有任何行含有列“${column}”的值；是否应为“${meant}”？`,
  ),
  COLUMN_EMPTY_AT_FIRST: kind<{ column: string; rows: number }>(
    ({ column, rows }) => `no value for column ${column} ${inFirst(rows)}; later rows may have one`,
    ({ column, rows }) => `预览的 ${shown(rows)} 行中没有列“${column}”的值，后面的行可能有`,
  ),
  COLUMN_MISSPELT_AT_FIRST: kind<{ column: string; meant: string; rows: number }>(
    ({ column, meant, rows }) => `no value for column ${column} ${inFirst(rows)}; did you mean ${meant}?`,
    ({ column, meant, rows }) => `预览的 ${shown(rows)} 行中没有列“${column}”的值；是否应为“${meant}”？`,
  ),
  HALF_CHARACTERS: kind<InColumn>(
    ({ column, count }) =>
      `column "${column}": ${counted(count, 'text has', 'texts have')} half a character (a lone surrogate), shown as \ufffd`,
    ({ column, count }) =>
      `列“${column}”：${shown(count)} 个文本含有不完整的字符（单独的代理项），显示为 \ufffd`,
  ),
  VALUES_OF_OTHER_TYPE: kind<InColumn & { type: string }>(
    ({ count, type, ...column }) =>
      `column "${columnName(column)}": ${counted(count, 'value is', 'values are')} not of the type ${type}`,
    ({ count, type, ...column }) =>
      `列“${columnName(column)}”：${shown(count)} 个值不是“${typeName(type)}”类型`,
  ),
  MASKED_COLUMN: kind<{ column: string }>(
    ({ column }) =>
      `column "${column}" has a mask, so its values are texts, whatever its type, and have no total but a count`,
    ({ column }) => `列“${column}”已脱敏，因此无论何种类型，其值均为文本，除计数外没有合计`,
  ),
  NUMBERS_AS_TEXT: kind<InColumn>(
    ({ count, ...column }) =>
      `column "${columnName(column)}": ${counted(count, 'number has', 'numbers have')} more than the 15 digits that Excel keeps: text, with every digit`,
    ({ count, ...column }) =>
      `列“${columnName(column)}”：${shown(count)} 个数字超过 Excel 可保留的 15 位，已按文本完整保留`,
  ),
  NUMBERS_ROUNDED: kind<InColumn>(
    ({ count, ...column }) =>
      `column "${columnName(column)}": ${counted(count, 'number was', 'numbers were')} rounded to the 15 digits that Excel keeps, which changes the cents; the type string keeps every digit`,
    ({ count, ...column }) =>
      `列“${columnName(column)}”：${shown(count)} 个数字按 Excel 可保留的 15 位四舍五入，分位有变化；类型 string 可保留全部数位`,
  ),
  FORMULAS_ESCAPED: kind<InColumn>(
    ({ count, ...column }) =>
      `column "${columnName(column)}": ${counted(count, 'text looks', 'texts look')} like a formula and got an apostrophe; csv: {"formulas": "keep"} leaves it out`,
    ({ count, ...column }) =>
      `列“${columnName(column)}”：${shown(count)} 个文本看起来像公式，已在前面加上撇号；csv: {"formulas": "keep"} 可不加`,
  ),
  CHARACTERS_NOT_IN_ENCODING: kind<{
    count: number
    encoding: string
    character: string
    code_point: string
  }>(
    ({ count, encoding, character, code_point }) =>
      `${counted(count, 'character is', 'characters are')} not in ${encoding} and shown as "?", the first being "${character}" (${code_point})`,
    ({ count, encoding, character, code_point }) =>
      `${shown(count)} 个字符不在 ${encoding} 中，显示为“?”，首先是“${character}”（${code_point}）`,
  ),
  TITLES_REPEATED: kind<{ titles: readonly string[] }>(
    ({ titles }) =>
      `several columns of the file have the same title: ${titles.join(', ')}; programs that read it by title find only one of them`,
    ({ titles }) => `文件中有多列标题相同：${listed(titles)}；按标题读取的程序只能找到其中一列`,
  ),
  COLUMNS_ONCE: kind<{ columns: readonly string[]; type: string }>(
    ({ columns, type }) =>
      `the template shows a key in several columns, and a file of the type ${type} has it once: ${columns.join(', ')}`,
    ({ columns, type }) => `模板用多列显示同一字段，而 ${type} 文件中只有一列：${listed(columns)}`,
  ),
  SHEET_RENAMED: kind<{ asked: string; sheet: string }>(
    ({ asked, sheet }) => `the sheet "${asked}" is named "${sheet}": Excel does not take the name as it is`,
    ({ asked, sheet }) => `工作表“${asked}”已改名为“${sheet}”：Excel 不接受原名称`,
  ),
  TEXTS_CUT: kind<FirstInSheet>(
    ({ sheet, count, cell }) =>
      `sheet "${sheet}": ${counted(count, 'text was', 'texts were')} longer than 32,767 characters and cut there, the first in ${cell}`,
    ({ sheet, count, cell }) =>
      `工作表“${sheet}”：${shown(count)} 个文本超过 32,767 个字符，已截断，首先在 ${cell}`,
  ),
  LINKS_AS_TEXT: kind<InSheet>(
    ({ sheet, count }) =>
      `sheet "${sheet}": ${counted(count, 'address is a plain text', 'addresses are plain texts')}, because a sheet may have 65,530 links`,
    ({ sheet, count }) =>
      `工作表“${sheet}”：${shown(count)} 个地址为普通文本，因为一个工作表最多有 65,530 个链接`,
  ),
  TOTAL_LEAVES_OUT: kind<InSheet & { column: string; total: string }>(
    ({ sheet, count, column, total }) =>
      `sheet "${sheet}": in column ${column} ${counted(count, 'value is no number', 'values are no numbers')}, and the ${total} below it leaves them out`,
    ({ sheet, count, column, total }) =>
      `工作表“${sheet}”：${column} 列有 ${shown(count)} 个值不是数字，未计入下方的${totalName(total)}`,
  ),
  CONTROL_CHARACTERS: kind<FirstInSheet>(
    ({ sheet, count, cell }) =>
      `sheet "${sheet}": ${counted(count, 'text has', 'texts have')} control characters, which a workbook cannot hold; they are shown as \u2400 to \u241f, the first in ${cell}`,
    ({ sheet, count, cell }) =>
      `工作表“${sheet}”：${shown(count)} 个文本含有工作簿无法保存的控制字符，显示为 \u2400 至 \u241f，首先在 ${cell}`,
  ),
  NO_CHARACTERS: kind<FirstInSheet>(
    ({ sheet, count, cell }) =>
      `sheet "${sheet}": ${counted(count, 'text has', 'texts have')} U+FFFE or U+FFFF, which are no characters; they are shown as \ufffd, the first in ${cell}`,
    ({ sheet, count, cell }) =>
      `工作表“${sheet}”：${shown(count)} 个文本含有 U+FFFE 或 U+FFFF，它们不是字符，显示为 \ufffd，首先在 ${cell}`,
  ),
  PARQUET_MIXED_TYPES: textColumn(
    () => 'holds values of different types',
    () => '含有不同类型的值',
  ),
  PARQUET_OTHER_TYPE: textColumn(
    ({ type }) => `holds values that are not of the type ${type}`,
    ({ type }) => `含有不是“${typeName(type)}”类型的值`,
  ),
  PARQUET_TOO_MANY_DIGITS: textColumn(
    () => 'holds numbers with more digits than a Parquet number has',
    () => '含有位数超过 Parquet 数字上限的数字',
  ),
  PARQUET_MIXED_TIMES: textColumn(
    () => 'holds times with an offset from UTC and times without one',
    () => '同时含有带时区偏移和不带时区偏移的时间',
  ),
} as const

export type WarningCode = keyof typeof WARNINGS
export type WarningValues<C extends WarningCode> = Parameters<(typeof WARNINGS)[C]['en']>[0]

function columnName({ column, title }: { column: string; title?: string }): string {
  return title === undefined ? column : `${column} (${title})`
}

function inFirst(rows: number): string {
  return `in the ${counted(rows, 'row')} of the preview`
}

function repeating(count: number, key: readonly string[]): string {
  return `${counted(count, 'row repeats', 'rows repeat')} the ${key.join(', ')} of an earlier row`
}
