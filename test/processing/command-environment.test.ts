import { expect, onTestFinished, test } from 'vitest'
import { loadConfig, SETTINGS } from '../../src/config.ts'
import { newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'

test('[processor] no secret of the server is in the environment of a command', async () => {
  const planted = 'a-secret-of-the-server'
  process.env.S3_SECRET_ACCESS_KEY = planted
  process.env.HOUSE_PASSWORD = planted
  process.env.WANTED_BY_THE_COMMAND = 'yes'
  onTestFinished(() => {
    for (const name of ['S3_SECRET_ACCESS_KEY', 'HOUSE_PASSWORD', 'WANTED_BY_THE_COMMAND'])
      delete process.env[name]
  })
  const wharf = await startHttp('embedded', {
    env: {
      PATH: process.env.PATH ?? '',
      WANTED_BY_THE_COMMAND: 'yes',
      PROCESSOR_ENV: 'WANTED_BY_THE_COMMAND',
      PROCESSOR_COMMAND: `sh -c 'env > "$1"' sh {output} {input}`,
    },
  })
  const { key } = await newProject(wharf)
  const headers = { 'tus-resumable': '1.0.0', 'upload-length': '0' }
  const made = await wharf.ask('POST', '/api/uploads', { key, headers })
  const id = made.headers.get('location')?.split('/').at(-1)
  const seen = await until('the command has run', async () => {
    const answer = await wharf.ask('GET', `/api/tasks/${id}/result`, { key })
    const text = await answer.text()
    return answer.status === 200 && text
  })
  expect(seen).not.toContain(planted)
  expect(seen).toContain('WANTED_BY_THE_COMMAND=yes')
  const names = seen.split('\n').flatMap((line) => line.split('=')[0] || [])
  const shells = ['PWD', 'OLDPWD', 'SHLVL', '_']
  expect(names.filter((name) => !['PATH', 'WANTED_BY_THE_COMMAND', ...shells].includes(name))).toEqual([])
})

test('[processor] no setting of Wharf can be handed to a command', () => {
  for (const name of Object.keys(SETTINGS)) {
    const env = name === 'PROCESSOR_ENV' ? {} : { PROCESSOR_ENV: `EDITOR,${name}` }
    if (name !== 'PROCESSOR_ENV') expect(() => loadConfig(env), name).toThrow(/^PROCESSOR_ENV names/)
  }
  expect(() => loadConfig({ PROCESSOR_ENV: 'REDIS_URL_FILE' })).toThrow(/^PROCESSOR_ENV names/)
})
