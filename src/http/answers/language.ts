import type { FastifyRequest } from 'fastify'

/** In which of the languages that Wharf speaks a caller wants to read. */
export function languageOf({ headers }: FastifyRequest): 'en' | 'zh' {
  return prefersChinese(headers['accept-language']) ? 'zh' : 'en'
}

/** True if no other language that Wharf speaks is wanted more. */
function prefersChinese(header: string | undefined): boolean {
  const wanted = (header ?? '').split(',').map((entry) => {
    const [tag = '', ...rest] = entry.trim().toLowerCase().split(';')
    const weight = rest
      .map((part) => /^\s*q=([\d.]+)\s*$/.exec(part)?.[1])
      .find((value) => value !== undefined)
    return { language: tag.split('-')[0] ?? '', weight: weight === undefined ? 1 : Number(weight) }
  })
  const weightOf = (language: string) =>
    Math.max(0, ...wanted.filter((entry) => entry.language === language).map(({ weight }) => weight))
  return weightOf('zh') > 0 && weightOf('zh') >= weightOf('en')
}
