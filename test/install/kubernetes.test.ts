import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Namespace } from 'kubernetes-models/v1/Namespace'
import { Secret } from 'kubernetes-models/v1/Secret'
import { Service } from 'kubernetes-models/v1/Service'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig, SETTINGS } from '../../src/config.ts'
import { findBinary } from '../support/find-binary.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = join(ROOT, 'deploy/kubernetes')

interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
  data?: Record<string, string>
  stringData?: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: a manifest as it is, of any kind
  spec?: any
}

interface Kustomization {
  namespace: string
  resources: string[]
  images: { name: string; newName: string; newTag: string }[]
}

const read = <T>(name: string) => parse(readFileSync(join(FOLDER, name), 'utf8')) as T
const kustomization = read<Kustomization>('kustomization.yaml')
const manifests = kustomization.resources.map((name) => read<Manifest>(name))
const secret = read<Manifest>('secret.example.yaml')
const one = (kind: string) => manifests.find((manifest) => manifest.kind === kind) as Manifest

const MODELS: Record<string, { new (data: never): { validate(): void }; apiVersion: string }> = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Namespace,
  PodDisruptionBudget,
  Secret,
  Service,
}

/** What Kubernetes' schemas say against a manifest: values by its validator, unknown fields by the types of the same package. */
function faultsOf(checked: Manifest[]): string[] {
  const faults = checked.flatMap((manifest) => {
    const Model = MODELS[manifest.kind]
    if (Model?.apiVersion !== manifest.apiVersion) return [`${manifest.kind}: apiVersion`]
    try {
      new Model(manifest as never).validate()
      return []
    } catch (error) {
      return [String(error)]
    }
  })
  const folder = temporaryFolder()
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const lines = checked.map(
    ({ apiVersion, kind, ...rest }) =>
      `new (await import('kubernetes-models/${apiVersion}/${kind}')).${kind}(${JSON.stringify(rest)})\n`,
  )
  writeFileSync(join(folder, 'manifests.mts'), `${lines.join('')}export {}\n`)
  const options = '--noEmit --strict --skipLibCheck --target es2024 --module nodenext --types node'.split(' ')
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), [...options, 'manifests.mts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  return [...faults, ...stdout.split('\n').filter((line) => line.includes('error'))]
}

test("the manifests keep to Kubernetes' schemas", () => {
  expect(faultsOf([...manifests, secret])).toEqual([])
})

test('the check finds a misspelt field, a wrong value, a missing field and an old version', () => {
  const broken = (kind: string, change: (manifest: Manifest) => void) => {
    const copy = structuredClone(one(kind))
    change(copy)
    return copy
  }
  const faults = faultsOf([
    broken('Deployment', ({ spec }) => (spec.template.spec.containers[0].readinesProbe = {})),
    broken('Deployment', ({ spec }) => (spec.template.spec.terminationGracePeriodSeconds = '40')),
    broken('Service', ({ spec }) => delete spec.ports[0].port),
    broken('HorizontalPodAutoscaler', (manifest) => (manifest.apiVersion = 'autoscaling/v1')),
  ]).join('\n')
  expect(faults).toMatch(/readinesProbe.*does not exist/)
  expect(faults).toMatch(/terminationGracePeriodSeconds.*must be integer/)
  expect(faults).toMatch(/ports.*must have required property port/)
  expect(faults).toContain('HorizontalPodAutoscaler: apiVersion')
})

test('the manifests belong together: selectors, ports, the disruption budget and the autoscaler name the same pods', () => {
  expect(manifests.map(({ kind }) => kind).sort()).toEqual([
    'ConfigMap',
    'Deployment',
    'HorizontalPodAutoscaler',
    'Namespace',
    'PodDisruptionBudget',
    'Service',
  ])
  const { spec } = one('Deployment')
  const { labels } = spec.template.metadata
  expect(spec.selector.matchLabels).toEqual(labels)
  expect(spec.template.spec.topologySpreadConstraints[0].labelSelector.matchLabels).toEqual(labels)
  expect(one('Service').spec.selector).toEqual(labels)
  expect(one('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels)
  const { scaleTargetRef, minReplicas } = one('HorizontalPodAutoscaler').spec
  expect(scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'wharf' })
  expect(minReplicas).toBeGreaterThan(one('PodDisruptionBudget').spec.minAvailable)
  const [container] = spec.template.spec.containers
  const ports = container.ports.map(({ name }: { name: string }) => name)
  expect(one('Service').spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort)).toEqual(ports)
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
    expect(ports).toContain(container[probe].httpGet.port)
  const mounted = container.volumeMounts.map(({ name }: { name: string }) => name)
  expect(spec.template.spec.volumes.map(({ name }: { name: string }) => name)).toEqual(mounted)
  // Otherwise a Service named wharf is WHARF_PORT=tcp://… in the pods' environment.
  expect(spec.template.spec.enableServiceLinks).toBe(false)
  for (const from of container.envFrom)
    expect((from.configMapRef ?? from.secretRef).name).toBe(
      (from.configMapRef ? one('ConfigMap') : secret).metadata.name,
    )
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  expect(kustomization.images).toMatchObject([{ name: container.image, newTag: version }])
})

test('the manifests set what exists, with S3, and wait for the drain', () => {
  const { data } = one('ConfigMap')
  const env = { ...data, ...secret.stringData }
  expect(Object.keys(env).filter((name) => !(name in SETTINGS))).toEqual([])
  const config = loadConfig(env)
  expect(config.S3_BUCKET).not.toBeNull()
  expect(config.WHARF_UNREADY_SECONDS).toBeLessThanOrEqual(config.WHARF_DRAIN_SECONDS)
  const pod = one('Deployment').spec.template.spec
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(config.WHARF_DRAIN_SECONDS + 2)
  expect(pod.containers[0].securityContext).toMatchObject({
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
  })
  const own = pod.containers[0].env.map(({ name }: { name: string }) => name)
  expect(own.filter((name: string) => !(name in SETTINGS) || name in env)).toEqual([])
  const gigabytes = (size: string) => Number(/^(\d+)Gi$/.exec(size)?.[1])
  const volumes = pod.volumes.map(({ emptyDir }: { emptyDir: { sizeLimit: string } }) =>
    gigabytes(emptyDir.sizeLimit),
  )
  const limit = gigabytes(pod.containers[0].resources.limits['ephemeral-storage'])
  expect(limit).toBeGreaterThan(volumes.reduce((sum: number, size: number) => sum + size, 0))
  const secrets = Object.entries<{ secret?: true }>(SETTINGS).filter(([, { secret }]) => secret)
  for (const [name] of secrets) expect(data).not.toHaveProperty(name)
})

const KUBECTL = findBinary('kubectl')

test.runIf(KUBECTL)('kubectl renders the kustomization into one namespace', () => {
  const rendered = spawnSync(KUBECTL ?? '', ['kustomize', FOLDER], { encoding: 'utf8' })
  expect([rendered.status, rendered.stderr]).toEqual([0, ''])
  expect(rendered.stdout.match(/^ {2}namespace: .*$/gm)).toEqual(Array(5).fill('  namespace: wharf'))
  const [image] = kustomization.images
  expect(rendered.stdout).toContain(`image: ${image?.newName}:${image?.newTag}\n`)
})
