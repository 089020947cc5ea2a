import { readdirSync, readFileSync } from 'node:fs'
import i18next from 'i18next'

const FOLDER = new URL('../../console/src/i18n/', import.meta.url)

export type Say = (key: string, values?: Record<string, unknown>) => string

/** The words of the console as it has them, so that a test of both languages need not repeat them: `exports.title`. */
export function consoleWords(language: 'en' | 'zh'): Say {
  const folder = new URL(`${language}/`, FOLDER)
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  const translation = Object.fromEntries(
    files.map((name) => [name.replace('.json', ''), JSON.parse(readFileSync(new URL(name, folder), 'utf8'))]),
  )
  const words = i18next.createInstance({
    lng: language,
    resources: { [language]: { translation } },
    interpolation: { escapeValue: false },
    initAsync: false,
  })
  void words.init()
  const say = words.t as unknown as Say
  return (key, values) => {
    if (!words.exists(key, values)) throw new Error(`the console has no words '${key}' in ${language}`)
    return say(key, values)
  }
}
