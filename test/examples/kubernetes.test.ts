import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { loadConfig } from '#shared/platform/process/config.ts'
import { SHUTDOWN_SECONDS } from '#shared/platform/process/run-process.ts'
import { settings } from '#shared/platform/process/settings.ts'
import { productVersion } from '#shared/platform/process/version.ts'
import { workers } from '../../workers/registry.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { root } from '../support/imports.ts'
import { refusalOf } from '../support/kubernetes-schemas.ts'
import { openProduct } from '../support/product.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = join(root, 'examples/kubernetes/base')
const kustomization = z
  .object({ resources: z.array(z.string()), images: z.array(z.object({ name: z.string(), newTag: z.string() })) })
  .parse(parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')))

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) })
const workloadShape = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.number().optional(),
    volumeClaimTemplates: z.array(z.object({ metadata: z.object({ name: z.string() }) })).default([]),
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.object({
        terminationGracePeriodSeconds: z.number().optional(),
        automountServiceAccountToken: z.literal(false),
        securityContext: z.object({
          runAsNonRoot: z.literal(true),
          seccompProfile: z.object({ type: z.literal('RuntimeDefault') }),
        }),
        topologySpreadConstraints: z.array(z.unknown()).default([]),
        containers: z.tuple([
          z.object({
            image: z.string(),
            args: z.array(z.string()),
            env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
            ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
            startupProbe: probe.optional(),
            livenessProbe: probe.optional(),
            readinessProbe: probe.optional(),
            resources: z.object({
              requests: z.object({ cpu: z.string(), memory: z.string() }),
              limits: z.object({ memory: z.string() }),
            }),
            securityContext: z.object({
              allowPrivilegeEscalation: z.literal(false),
              readOnlyRootFilesystem: z.literal(true),
              capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
            }),
            volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
          }),
        ]),
        volumes: z.array(z.object({ name: z.string(), secret: z.object({ secretName: z.string() }).optional() })),
      }),
    }),
  }),
})

const autoscaler = z.object({ minReplicas: z.number(), scaleTargetRef: z.object({ name: z.string() }) })
const policy = z.object({
  podSelector: z.object({ matchLabels: z.object({ 'app.kubernetes.io/part-of': z.literal('signalbox') }) }),
})

const read = (path: string): Record<string, unknown>[] =>
  parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS())
const documents = kustomization.resources.flatMap((file) => read(join(folder, file)))
const services = ['postgres', 'rabbitmq'].flatMap((name) => read(join(folder, `../services/${name}.yaml`)))
const workloads = documents
  .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet' || kind === 'Job')
  .map((document) => workloadShape.parse(document))
const processes = workloads.filter(({ kind }) => kind !== 'Job')
const containerOf = (workload: (typeof workloads)[number]) => workload.spec.template.spec.containers[0]
const given = z.record(z.string(), z.string()).parse(documents.find(({ kind }) => kind === 'ConfigMap')?.data)

test('every manifest matches its schema, and the kustomization lists every file', (t) => {
  for (const document of documents) t.is(refusalOf(document), null, JSON.stringify(document.metadata))
  t.truthy(
    refusalOf({ ...documents.find(({ kind }) => kind === 'Deployment'), spec: { replicas: '2' } }),
    'a wrong one is refused',
  )
  const service = documents.find(({ kind }) => kind === 'Service')
  t.is(
    refusalOf({ ...service, spec: { ports: [{ port: 80, targetport: 8080 }] } }),
    'unknown: Service.spec.ports.0.targetport',
  )
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
  t.deepEqual(files.sort(), [...kustomization.resources].sort())
})

/** @returns the minor version of kubectl; 0 if it is not installed */
function kubectlMinor(): number {
  try {
    const output = execFileSync('kubectl', ['version', '--client', '-o', 'json'], { encoding: 'utf8', stdio: 'pipe' })
    return Number(/"minor": "(\d+)/.exec(output)?.[1] ?? 0)
  } catch {
    return 0
  }
}

test('kubectl renders them, where it is installed', (t) => {
  // Since 1.21 it knows the lists of labels that kustomization.yaml has; Debian 12 has an older one.
  if (kubectlMinor() < 21) {
    t.pass('no kubectl here that can')
    return
  }
  const rendered = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8', stdio: 'pipe' })
  t.is([...rendered.matchAll(/^kind: /gm)].length, documents.length)
  t.deepEqual([...new Set(rendered.match(/(?<=image: ).+/g))], [`signalbox:${productVersion()}`])
})

test("every setting that they name exists, and secrets come as files of which only the migration has the owner's", (t) => {
  const names = [
    ...Object.keys(given),
    ...workloads.flatMap((workload) => containerOf(workload).env.map(({ name }) => name)),
  ]
  const unknown = names.filter(
    (name) => !Object.hasOwn(settings, name) && !Object.hasOwn(settings, name.replace(/_FILE$/, '')),
  )
  t.deepEqual(unknown, [])
  const secret = Object.entries(settings)
    .filter(([, setting]) => 'secret' in setting)
    .map(([name]) => name)
  t.deepEqual(
    names.filter((name) => secret.includes(name)),
    [],
    'a secret in the environment shows in kubectl describe',
  )
  const hasOwner = workloads.filter(({ spec }) =>
    spec.template.spec.volumes.some(({ secret }) => secret?.secretName === 'signalbox-owner'),
  )
  t.deepEqual(
    hasOwner.map(({ metadata }) => metadata.name),
    ['migrate'],
  )
})

test('every worker is run once, by a workload that outlives the loss of a node', (t) => {
  const named = processes.flatMap((workload) => {
    const { args } = containerOf(workload)
    return args.includes('workers/main.ts') ? args.slice(args.indexOf('workers/main.ts') + 1) : []
  })
  t.deepEqual(named.sort(), workers.map(({ name }) => name).sort())
  const budgets = documents
    .filter(({ kind }) => kind === 'PodDisruptionBudget')
    .map(({ metadata }) => z.object({ name: z.string() }).parse(metadata).name)
  t.deepEqual(budgets.sort(), processes.map(({ metadata }) => metadata.name).sort())
  for (const workload of processes) {
    const { name } = workload.metadata
    const { terminationGracePeriodSeconds = 0, topologySpreadConstraints } = workload.spec.template.spec
    t.true((workload.spec.replicas ?? 2) >= 2, name)
    t.true(terminationGracePeriodSeconds >= SHUTDOWN_SECONDS + 5, name)
    t.is(topologySpreadConstraints.length, 1, name)
    for (const kind of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const)
      t.truthy(containerOf(workload)[kind], `${name} ${kind}`)
  }
  for (const workload of workloads)
    t.is(containerOf(workload).image, 'signalbox', 'the kustomization names the version')
  t.deepEqual(
    kustomization.images.map(({ name, newTag }) => [name, newTag === 'latest']),
    [['signalbox', false]],
  )
})

test('the autoscaler alone sets the number of its pods', (t) => {
  const scaled = documents
    .filter(({ kind }) => kind === 'HorizontalPodAutoscaler')
    .map(({ spec }) => autoscaler.parse(spec))
  t.deepEqual(
    scaled.map(({ scaleTargetRef }) => scaleTargetRef.name),
    processes.filter(({ spec }) => spec.replicas === undefined).map(({ metadata }) => metadata.name),
  )
  for (const { minReplicas } of scaled) t.true(minReplicas >= 2)
})

test('network policies select only pods of Signalbox', (t) => {
  const policies = documents.filter(({ kind }) => kind === 'NetworkPolicy')
  t.true(policies.length > 0)
  for (const { spec, metadata } of policies) t.notThrows(() => policy.parse(spec), JSON.stringify(metadata))
})

test('docs/scale.md states the purpose of each object', (t) => {
  const rows = readFileSync(join(root, 'docs/scale.md'), 'utf8').match(/^\| .+$/gm) ?? []
  for (const { kind, metadata } of [...documents, ...services]) {
    const { name } = z.object({ name: z.string() }).parse(metadata)
    t.true(
      rows.some((row) => row.startsWith(`| ${kind} \``) && row.split('|')[1]?.includes(`\`${name}\``)),
      `${kind} ${name}`,
    )
  }
})

test('secrets.sh creates the secrets that the workloads mount, with addresses that can be read as settings', (t) => {
  const folder = temporaryFolder('signalbox-kubernetes')
  mkdirSync(join(folder, 'bin'))
  // Returns the name of the requested secret as its value, and keeps the files of a created one.
  writeFileSync(
    join(folder, 'bin/kubectl'),
    `#!/bin/sh
case "$*" in
  *'get secret signalbox') test -d signalbox ;;
  *'get secret '*) printf %s "$5" | base64 ;;
  *) mkdir "$6" && for file in "$@"; do case $file in --from-file=*) cp "\${file#*=}" "$6" ;; esac; done ;;
esac
`,
    { mode: 0o755 },
  )
  const run = () =>
    execFileSync('sh', [join(root, 'examples/kubernetes/secrets.sh')], {
      cwd: folder,
      env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}` },
      encoding: 'utf8',
      stdio: 'pipe',
    })
  run()
  t.regex(run(), /nothing was changed/)
  const mounted = workloads.flatMap(({ spec }) =>
    spec.template.spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []),
  )
  t.deepEqual(readdirSync(folder).sort(), ['bin', ...new Set(mounted)].sort())
  const environment = workloads.flatMap((workload) => containerOf(workload).env)
  const files = [...Object.entries(given), ...environment.map(({ name, value }) => [name, value] as const)]
    .filter(([name]) => name.endsWith('_FILE'))
    .map(([name, path]) => [name, join(folder, path.replace('/run/secrets/', ''))])
  const config = loadConfig({ HOST: '127.0.0.1', ...Object.fromEntries(files) })
  const hostsOf = (urls = '') => urls.split(',').map((url) => new URL(url).hostname)
  const nodes = [0, 1, 2].map((node) => `rabbitmq-server-${node}.rabbitmq-nodes`)
  t.deepEqual([hostsOf(config.amqpUrl), hostsOf(config.amqpAdminUrl)], [nodes, nodes])
  const [owner, login] = [new URL(config.databaseOwnerUrl ?? ''), new URL(config.databaseUrl)]
  t.deepEqual([owner.username, owner.password, owner.host], ['signalbox', 'postgres-app', 'postgres-rw:5432'])
  t.deepEqual([login.username, login.host], ['signalbox_login', 'postgres-rw:5432'])
})

test('workloads that send or sign keep their restore marks on a persistent volume', (t) => {
  const senders = processes.filter((workload) =>
    workers.some(({ name, sends }) => sends && containerOf(workload).args.includes(name)),
  )
  t.deepEqual(
    senders.map(({ kind, metadata }) => [kind, metadata.name]),
    [['StatefulSet', 'senders']],
  )
  for (const workload of senders) {
    const mount = containerOf(workload).volumeMounts.find(({ mountPath }) => mountPath === '/var/lib/signalbox')
    t.deepEqual(
      workload.spec.volumeClaimTemplates.map(({ metadata }) => metadata.name),
      [mount?.name],
    )
  }
})

test('every path that is probed answers 200 once the product is up', async (t) => {
  const metrics = await freePort()
  await using product = await openProduct({ env: { METRICS_PORT: String(metrics) } })
  const listening = await product.ingress()
  const ports: Record<string, string> = { http: listening.base, metrics: `http://127.0.0.1:${metrics}` }
  const probed = new Set(
    processes.flatMap((workload) => {
      const { startupProbe, livenessProbe, readinessProbe } = containerOf(workload)
      return [startupProbe, livenessProbe, readinessProbe].flatMap((each) =>
        each ? [`${ports[each.httpGet.port]}${each.httpGet.path}`] : [],
      )
    }),
  )
  t.is(probed.size, 3)
  for (const url of probed) {
    await eventually(`${url} to answer`, async () => (await fetch(url).catch(() => undefined))?.status === 200)
  }
})
