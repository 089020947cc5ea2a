import { escapeAttribute } from '../xml-text.ts'
import { type DefinedName, definedNames } from './defined-names.ts'

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'

export function sheetPath(number: number): string {
  return `xl/worksheets/sheet${number}.xml`
}

export function sheetRelationshipsPath(number: number): string {
  return `xl/worksheets/_rels/sheet${number}.xml.rels`
}

/** `_rels/.rels` */
export function rootRelationships(): string {
  return relationships([
    [`${OFFICE}/relationships/officeDocument`, 'xl/workbook.xml'],
    [`${PACKAGE}/relationships/metadata/core-properties`, 'docProps/core.xml'],
    [`${OFFICE}/relationships/extended-properties`, 'docProps/app.xml'],
  ])
}

/** `xl/_rels/workbook.xml.rels`: sheets first, so that their relationship numbers are their own. */
export function workbookRelationships(sheets: number): string {
  return relationships([
    ...Array.from({ length: sheets }, (_, n): [string, string] => [
      `${OFFICE}/relationships/worksheet`,
      `worksheets/sheet${n + 1}.xml`,
    ]),
    [`${OFFICE}/relationships/theme`, 'theme/theme1.xml'],
    [`${OFFICE}/relationships/styles`, 'styles.xml'],
  ])
}

/** `xl/worksheets/_rels/sheetN.xml.rels` */
export function sheetRelationships(targets: readonly string[]): string {
  return relationships(
    targets.map((target) => [`${OFFICE}/relationships/hyperlink`, escapeAttribute(target)]),
    ' TargetMode="External"',
  )
}

function relationships(targets: [type: string, target: string][], mode = ''): string {
  const items = targets.map(
    ([type, target], n) => `<Relationship Id="rId${n + 1}" Type="${type}" Target="${target}"${mode}/>`,
  )
  return `${DECLARATION}<Relationships xmlns="${PACKAGE}/relationships">${items.join('')}</Relationships>`
}

/** `xl/workbook.xml` */
export function workbook(items: readonly { name: string; names: readonly DefinedName[] }[]): string {
  const sheets = items.map(
    ({ name }, n) => `<sheet name="${escapeAttribute(name)}" sheetId="${n + 1}" r:id="rId${n + 1}"/>`,
  )
  return (
    `${DECLARATION}<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${OFFICE}/relationships">` +
    '<workbookPr defaultThemeVersion="124226"/><bookViews><workbookView xWindow="0" yWindow="0" windowWidth="22260" windowHeight="12645"/></bookViews>' +
    `<sheets>${sheets.join('')}</sheets>${definedNames(items)}<calcPr calcId="124519"/></workbook>`
  )
}

/** `[Content_Types].xml` */
export function contentTypes(sheets: number): string {
  const spreadsheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
  const parts: [string, string][] = [
    ['/docProps/app.xml', 'application/vnd.openxmlformats-officedocument.extended-properties+xml'],
    ['/docProps/core.xml', 'application/vnd.openxmlformats-package.core-properties+xml'],
    ['/xl/styles.xml', `${spreadsheet}.styles+xml`],
    ['/xl/theme/theme1.xml', 'application/vnd.openxmlformats-officedocument.theme+xml'],
    ['/xl/workbook.xml', `${spreadsheet}.sheet.main+xml`],
    ...Array.from({ length: sheets }, (_, n): [string, string] => [
      `/${sheetPath(n + 1)}`,
      `${spreadsheet}.worksheet+xml`,
    ]),
  ]
  const overrides = parts.map(([part, type]) => `<Override PartName="${part}" ContentType="${type}"/>`)
  return (
    `${DECLARATION}<Types xmlns="${PACKAGE}/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    `<Default Extension="xml" ContentType="application/xml"/>${overrides.join('')}</Types>`
  )
}

/** `docProps/app.xml` */
export function appProperties(): string {
  return `${DECLARATION}<Properties xmlns="${OFFICE}/extended-properties"><Application>Wharf</Application></Properties>`
}

/** What a workbook says of itself. */
export interface BookProperties {
  creator: string
  description: string
  identifier: string
  /** ISO 8601. */
  created: string
}

/** `docProps/core.xml`, without times of its own: the same input has to give the same bytes. */
export function coreProperties(said?: BookProperties): string {
  const creator = said ? escapeAttribute(said.creator) : 'Wharf'
  const more = said
    ? `<dc:description>${escapeAttribute(said.description)}</dc:description>` +
      `<dc:identifier>${escapeAttribute(said.identifier)}</dc:identifier>` +
      `<dcterms:created xsi:type="dcterms:W3CDTF">${escapeAttribute(said.created)}</dcterms:created>`
    : ''
  return (
    `${DECLARATION}<cp:coreProperties xmlns:cp="${PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" ` +
    'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">' +
    `<dc:creator>${creator}</dc:creator><cp:lastModifiedBy>Wharf</cp:lastModifiedBy>${more}</cp:coreProperties>`
  )
}
