// `npm pack`: Node runs TypeScript sources as they are, but not below node_modules. So an installed Wharf gets emitted
// JavaScript, with the files that are read at run time (SQL, Lua) beside it. The console is there already: `prepare.mjs`
// built it.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
for (const entry of existsSync(dist) ? readdirSync(dist) : []) {
  if (entry !== 'console') rmSync(join(dist, entry), { recursive: true, force: true })
}
const compiled = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (compiled.status !== 0) process.exit(compiled.status ?? 1)
cpSync(join(root, 'src'), dist, {
  recursive: true,
  filter: (path) => ['', '.sql', '.lua'].includes(extname(path)),
})
// Swagger UI, without the packages that its plugin brings along.
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'])
  cpSync(join(root, 'node_modules/@fastify/swagger-ui/static', file), join(dist, 'reference', file))
const listed = spawnSync(join(root, 'node_modules', '.bin', 'node'), ['scripts/sbom.ts'], {
  cwd: root,
  stdio: 'inherit',
})
if (listed.status !== 0) process.exit(listed.status ?? 1)
