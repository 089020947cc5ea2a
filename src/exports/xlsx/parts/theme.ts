/** `xl/theme/theme1.xml`: the colours, fonts and effects that the schema asks for, no more. */
export function theme(): string {
  const colors: [string, string][] = [
    ['dk1', '<a:sysClr val="windowText" lastClr="000000"/>'],
    ['lt1', '<a:sysClr val="window" lastClr="FFFFFF"/>'],
    ...(
      [
        ['dk2', '1F497D'],
        ['lt2', 'EEECE1'],
        ['accent1', '4F81BD'],
        ['accent2', 'C0504D'],
        ['accent3', '9BBB59'],
        ['accent4', '8064A2'],
        ['accent5', '4BACC6'],
        ['accent6', 'F79646'],
        ['hlink', '0000FF'],
        ['folHlink', '800080'],
      ] as const
    ).map(([name, rgb]): [string, string] => [name, `<a:srgbClr val="${rgb}"/>`]),
  ]
  const fonts = (name: string) => `<a:latin typeface="${name}"/><a:ea typeface=""/><a:cs typeface=""/>`
  const solid = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
  const line = (width: number) => `<a:ln w="${width}">${solid}</a:ln>`
  const effect = '<a:effectStyle><a:effectLst/></a:effectStyle>'
  return (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
    '<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="Office Theme"><a:themeElements>' +
    `<a:clrScheme name="Office">${colors.map(([name, xml]) => `<a:${name}>${xml}</a:${name}>`).join('')}</a:clrScheme>` +
    `<a:fontScheme name="Office"><a:majorFont>${fonts('Cambria')}</a:majorFont><a:minorFont>${fonts('Calibri')}</a:minorFont></a:fontScheme>` +
    `<a:fmtScheme name="Office"><a:fillStyleLst>${solid.repeat(3)}</a:fillStyleLst>` +
    `<a:lnStyleLst>${line(9525)}${line(25400)}${line(38100)}</a:lnStyleLst>` +
    `<a:effectStyleLst>${effect.repeat(3)}</a:effectStyleLst><a:bgFillStyleLst>${solid.repeat(3)}</a:bgFillStyleLst></a:fmtScheme>` +
    '</a:themeElements><a:objectDefaults/><a:extraClrSchemeLst/></a:theme>'
  )
}
