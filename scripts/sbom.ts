// What is in the package: `dist/sbom.cdx.json` (CycloneDX 1.5) and `dist/licences.md`, out of package-lock.json alone, so that
// they need no network and are the same for the same lock file.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Locked {
  version?: string
  license?: string
  integrity?: string
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  hasInstallScript?: boolean
}

export interface Lock {
  name: string
  packages: Record<string, Locked>
}

export interface Dependency {
  name: string
  version: string
  licence: string | null
  integrity: string | null
  optional: boolean
  hasInstallScript: boolean
}

const fromRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

export function readLock(): Lock {
  return JSON.parse(readFileSync(fromRoot('package-lock.json'), 'utf8')) as Lock
}

/** What runs in production, each version once. */
export function dependenciesOf({ packages }: Lock): Dependency[] {
  const found = new Map<string, Dependency>()
  for (const [path, locked] of Object.entries(packages)) {
    if (path === '' || locked.dev || locked.devOptional || locked.version === undefined) continue
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    found.set(`${name}@${locked.version}`, {
      name,
      version: locked.version,
      licence: locked.license ?? null,
      integrity: locked.integrity ?? null,
      optional: locked.optional ?? false,
      hasInstallScript: locked.hasInstallScript ?? false,
    })
  }
  return [...found.values()].sort((a, b) => (purlOf(a) < purlOf(b) ? -1 : 1))
}

export function sbomOf(lock: Lock) {
  const { version = '0', license = 'MIT' } = lock.packages[''] ?? {}
  const own = { name: lock.name, version }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': purlOf(own),
        ...own,
        purl: purlOf(own),
        licenses: [{ license: { id: license } }],
      },
    },
    components: dependenciesOf(lock).map((dependency) => ({
      type: 'library',
      'bom-ref': purlOf(dependency),
      name: dependency.name,
      version: dependency.version,
      scope: dependency.optional ? 'optional' : 'required',
      purl: purlOf(dependency),
      ...(dependency.licence !== null && { licenses: [licenceOf(dependency.licence)] }),
      ...(dependency.integrity !== null && { hashes: [hashOf(dependency.integrity)] }),
    })),
  }
}

export function licencesOf(lock: Lock): string {
  const rows = dependenciesOf(lock).map(
    ({ name, version, licence }) => `| ${name} | ${version} | ${licence ?? 'not named in the lock file'} |`,
  )
  return ['# Licences', '', '| package | version | licence |', '| --- | --- | --- |', ...rows, ''].join('\n')
}

function purlOf({ name, version }: { name: string; version: string }): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function licenceOf(licence: string) {
  return / (OR|AND|WITH) /.test(licence) ? { expression: licence } : { license: { id: licence } }
}

function hashOf(integrity: string) {
  const [algorithm = '', value = ''] = integrity.split('-', 2)
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(value, 'base64').toString('hex') }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lock = readLock()
  writeFileSync(fromRoot('dist/sbom.cdx.json'), `${JSON.stringify(sbomOf(lock), null, 2)}\n`)
  writeFileSync(fromRoot('dist/licences.md'), licencesOf(lock))
}
