import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { htmlToRuns } from '../../../src/exports/template/header/index.ts'

function text(html: string): string {
  return htmlToRuns(html)
    .map((run) => run.text)
    .join('')
}

describe('the HTML of a summary', () => {
  test('becomes runs of bold, italic, underlined and coloured text', () => {
    expect(htmlToRuns('a<b>b</b><STRONG>c</STRONG><i>d<u>e</u></i><font color="#ff0000">f</font>')).toEqual([
      { text: 'a' },
      { text: 'bc', bold: true },
      { text: 'd', italic: true },
      { text: 'e', italic: true, underline: true },
      { text: 'f', color: 'FF0000' },
    ])
    expect(htmlToRuns('<span style="font-size:9px; color: blue">x</span>')).toEqual([
      { text: 'x', color: '0000FF' },
    ])
    expect(htmlToRuns('<span style="color:rgb(1, 2, 255)">x</span>')).toEqual([
      { text: 'x', color: '0102FF' },
    ])
    expect(htmlToRuns('<span style="background-color:red">x</span>')).toEqual([{ text: 'x' }])
  })

  test('survives tags that are crossed, left open or closed for nothing', () => {
    expect(htmlToRuns('<b>1<i>2</b>3</i>4')).toEqual([
      { text: '1', bold: true },
      { text: '2', bold: true, italic: true },
      { text: '3', italic: true },
      { text: '4' },
    ])
    expect(htmlToRuns('</b>x<b>')).toEqual([{ text: 'x' }])
    expect(htmlToRuns('<font color=red>a<font>b</font>c</font>d')).toEqual([
      { text: 'abc', color: 'FF0000' },
      { text: 'd' },
    ])
  })

  test('breaks lines at br and between paragraphs, and keeps those of plain text', () => {
    expect(text('a<br>b<br/>c')).toBe('a\nb\nc')
    expect(text('<p>a</p>\n  <p>b</p>')).toBe('a\nb')
    expect(text('a<p>b</p>c')).toBe('a\nb\nc')
    expect(text('<p>a</p><br><p>b</p>')).toBe('a\nb')
    expect(text('one\r\ntwo\n\nthree')).toBe('one\ntwo\n\nthree')
  })

  test('loses other tags, comments, scripts and styles, but no text', () => {
    expect(text('<h1 class="x">a</h1><a href="javascript:x">b</a><img src=x onerror=y>')).toBe('ab')
    expect(text('a<script>alert("<b>")</script>b<style>p{}</style >c<!-- d --><!DOCTYPE e>f')).toBe('abcf')
    expect(text('a<script>never closed')).toBe('a')
  })

  test('takes a lone < for itself, and resolves entities once', () => {
    expect(text('1 < 2 <= 3 && 4<5')).toBe('1 < 2 <= 3 && 4<5')
    expect(text('ends in <b')).toBe('ends in <b')
    expect(text('&lt;b&gt; &amp;lt; &#65;&#x6c49; &nbsp;&yen; &bogus; &#0; &#xD800;')).toBe(
      '<b> &lt; A汉 \u00a0¥ &bogus; &#0; &#xD800;',
    )
  })

  test('is cut where a cell ends', () => {
    expect(text('x'.repeat(40_000))).toHaveLength(32_767)
    expect(text(`${'x'.repeat(32_766)}😀`)).toHaveLength(32_766)
  })

  test.each([
    [`${'<'.repeat(300_000)}>`, 'angles'],
    [`${'</'.repeat(300_000)}>`, 'closings'],
    ['<b>'.repeat(100_000), 'openings'],
    [`<font color=${' '.repeat(500_000)}>x`, 'blanks'],
    ['<!--'.repeat(100_000), 'comments'],
    ['&#'.repeat(300_000), 'entities'],
    ['<script>'.repeat(100_000), 'scripts'],
  ])('is read in one go, though it be hostile (%#)', (html) => {
    expect(text(html).length).toBeLessThanOrEqual(32_767)
  })

  test('never yields an empty run, nor two alike in a row', () => {
    const parts = fc.constantFrom(
      '<b>',
      '</b>',
      '<i>',
      '</i>',
      '<p>',
      '</p>',
      '<br>',
      'a',
      ' ',
      '\n',
      '<',
      '&amp;',
    )
    fc.assert(
      fc.property(fc.array(parts), (pieces) => {
        const runs = htmlToRuns(pieces.join(''))
        runs.forEach((run, i) => {
          expect(run.text).not.toBe('')
          const { text: _, ...look } = run
          const { text: __, ...before } = runs[i - 1] ?? { text: '', bold: 'none' }
          expect(look).not.toEqual(before)
        })
      }),
    )
  })
})
