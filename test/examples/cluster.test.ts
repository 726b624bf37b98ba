import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { z } from 'zod'
import { splitHosts } from '#shared/platform/database/hosts.ts'
import { loadConfig } from '#shared/platform/process/config.ts'
import { settings } from '#shared/platform/process/settings.ts'
import { root } from '../support/imports.ts'
import { scaleBlock } from '../support/scale-page.ts'

const shape = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string().optional(),
      hostname: z.string().optional(),
      command: z.array(z.string()).optional(),
      entrypoint: z.array(z.string()).optional(),
      environment: z.record(z.string(), z.string().nullable()).default({}),
      secrets: z.array(z.string()).default([]),
      volumes: z.array(z.string()).default([]),
      depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
      mem_limit: z.string().optional(),
      pids_limit: z.number().optional(),
      ulimits: z.object({ nofile: z.object({ soft: z.number(), hard: z.number() }) }).optional(),
    }),
  ),
  volumes: z.record(z.string(), z.null()),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
})
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const base = shape.parse(parse(read('compose.yaml'), { merge: true }))
const over = shape.parse(parse(read('examples/cluster/compose.yaml'), { merge: true }))
const services = { ...base.services, ...over.services }
const added = Object.entries(over.services).filter(([name]) => !(name in base.services))

test('the cluster names services, secrets, volumes and files that there are, and every container has bounds', (t) => {
  const secrets = Object.keys({ ...base.secrets, ...over.secrets })
  const volumes = Object.keys({ ...base.volumes, ...over.volumes })
  for (const [name, service] of Object.entries(over.services)) {
    for (const other of Object.keys(service.depends_on)) t.true(other in services, `${name} waits for ${other}`)
    for (const secret of service.secrets) t.true(secrets.includes(secret), `${name} reads ${secret}`)
    for (const volume of service.volumes) {
      const [source = ''] = volume.split(':')
      const isThere = source.startsWith('.') ? existsSync(join(root, source)) : volumes.includes(source)
      t.true(isThere || source.startsWith('./.local/'), `${name} mounts ${source}`)
    }
  }
  for (const [name, service] of added) {
    t.true(service.mem_limit !== undefined && service.pids_limit !== undefined, `${name} has bounds`)
  }
})

test('the environment of the cluster contains only known settings', (t) => {
  for (const name of ['ingress', 'ingress-2', 'sweeper']) {
    const names = Object.keys(over.services[name]?.environment ?? {}).map((it) => it.replace(/_FILE$/, ''))
    t.true(names.includes('DATABASE_SYNC_STANDBYS'), name)
    for (const setting of names) t.true(setting in settings, `${name}: ${setting}`)
  }
})

test('the addresses that its script makes are those of its services, and can be read as settings', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-secrets-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const script of ['stack/secrets.sh', 'examples/cluster/secrets.sh']) {
    execFileSync('sh', [join(root, script), folder])
  }
  const file = (name: string) => join(folder, 'cluster', name)
  const config = loadConfig({
    HOST: '127.0.0.1',
    SECRET_KEY_FILE: join(folder, 'secret_key'),
    DATABASE_URL_FILE: file('database_url'),
    DATABASE_OWNER_URL_FILE: file('database_owner_url'),
    AMQP_URL_FILE: file('amqp_url'),
    AMQP_ADMIN_URL_FILE: file('amqp_admin_url'),
  })
  const hostsOf = (urls: readonly string[]) => urls.map((url) => new URL(url).hostname)
  const brokers = Object.keys(services).filter((name) => name.startsWith('rabbitmq'))
  t.is(brokers.length, 3)
  t.deepEqual(hostsOf(config.amqpUrl.split(',')), brokers)
  t.deepEqual(hostsOf(config.amqpAdminUrl?.split(',') ?? []), brokers)
  for (const url of [config.databaseUrl, config.databaseOwnerUrl ?? '']) {
    t.deepEqual(hostsOf(splitHosts(url)), ['postgres', 'standby'])
  }
  for (const { file: path } of Object.values(over.secrets)) {
    t.true(existsSync(path.replace('./.local/secrets', folder)), path)
  }
  const nodes = [...read('examples/cluster/rabbitmq.conf').matchAll(/nodes\.\d = rabbit@(\S+)/g)].map(
    ([, name]) => name,
  )
  t.deepEqual(nodes, brokers)
  const cookie = readFileSync(file('erlang_cookie'), 'utf8')
  execFileSync('sh', [join(root, 'examples/cluster/secrets.sh'), folder])
  t.is(readFileSync(file('erlang_cookie'), 'utf8'), cookie, 'a second run changes no cookie of a broker that runs')
})

test('both listeners have the same settings', (t) => {
  const environmentOf = (name: string) => ({ ...base.services[name]?.environment, ...over.services[name]?.environment })
  t.deepEqual(environmentOf('ingress-2'), environmentOf('ingress'))
})

test('the balancer checks the readiness of both listeners at their own ports', (t) => {
  const balancer = read('examples/cluster/haproxy.cfg')
  const backends = [...balancer.matchAll(/^ {2}server \w+ "([\w-]+):\$\{PORT\}"$/gm)].map(([, name]) => name)
  t.deepEqual(backends, ['ingress', 'ingress-2'])
  t.is(over.services.balancer?.environment.PORT, over.services['ingress-2']?.environment.PORT)
  const [, path = ''] = /option httpchk GET (\S+)/.exec(balancer) ?? []
  t.true(read('ingress/health.ts').includes(`'${path}'`), path)
})

test('the balancer may open two files for each connection that it takes', (t) => {
  const connections = Number(/maxconn (\d+)/.exec(read('examples/cluster/haproxy.cfg'))?.[1])
  t.true((over.services.balancer?.ulimits?.nofile.soft ?? 0) > 2 * connections)
})

test('the brokers of the example have the settings that docs/scale.md recommends', (t) => {
  const lines = [scaleBlock('net_ticktime'), scaleBlock('continuous_membership')].flatMap((text) =>
    text.trim().split('\n'),
  )
  const own = read('examples/cluster/rabbitmq.conf').split('\n')
  for (const line of lines) t.true(own.includes(line), line)
})
