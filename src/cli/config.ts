import { describeSettings, loadConfig, type SettingFiles } from '../config.ts'
import { columnsOf, padTo } from './terminal/table.ts'

export function printConfig(files: SettingFiles, { json = false }: { json?: boolean }): void {
  const settings = describeSettings(process.env, files)
  const { misspelt, doubtful } = loadConfig(process.env)
  for (const sentence of [...misspelt, ...doubtful]) console.error(`wharf: ${sentence}`)
  if (json) {
    console.log(JSON.stringify(settings, null, 2))
    return
  }
  const lines = settings.map(({ name, value, from }) => ({
    text: value === null ? `# ${name} is not set` : `${name}=${value}`,
    from,
  }))
  const width = Math.min(60, Math.max(...lines.map(({ text }) => columnsOf(text))))
  for (const { text, from } of lines) console.log(`${padTo(text, width)}  # ${from}`)
}
