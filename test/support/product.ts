import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import knex, { type Knex } from 'knex'
import { generateKey, type KeyKind, keyPrefix } from '#shared/monitoring/projects/api-key.ts'
import { insertProject, insertProjectKey } from '#shared/monitoring/projects/store.ts'
import { splitHosts } from '#shared/platform/database/hosts.ts'
import { type Config, loadConfig } from '#shared/platform/process/config.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import type { IngressDeps, IngressTasks } from '../../ingress/deps.ts'
import type { MailDeps } from '../../ingress/smtp/start-mail-ingress.ts'
import { ALL_HEAP, INGRESS_HEAP } from '../../stack/stack-settings.ts'
import type { WorkerDeps } from '../../workers/define-worker.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { loadWorkers, withAlerter } from './named-workers.ts'
import { createDatabase, createVhost } from './services.ts'
import { compileCache, readTypescript } from './typescript-process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Names of the processes that `spawn` can start: the product's own entry files. */
const entryFiles = {
  all: 'all/main.ts',
  ingress: 'ingress/main.ts',
  smtp: 'ingress/smtp.ts',
  workers: 'workers/main.ts',
} as const
const heaps: Partial<Record<keyof typeof entryFiles, readonly string[]>> = { all: ALL_HEAP, ingress: INGRESS_HEAP }

/** Returns the arguments of Node. */
function commandOf(what: keyof typeof entryFiles, args: readonly string[]): string[] {
  return [...(heaps[what] ?? []), readTypescript, entryFiles[what], ...withAlerter(args)]
}

interface TestProject {
  id: number
  uuid: string
  organisationId: number
  apiKey: string
  apiKeyReadonly: string
  pingKey: string
}

/** A process of the product, started with the options that its operator gives it. */
export interface SpawnedProcess {
  pid: number
  /** its output so far */
  output(): string
  signal(signal: NodeJS.Signals): void
  /** sends SIGTERM and returns the exit code */
  stop(): Promise<number | null>
  exited: Promise<number | null>
}

/**
 * The product on a separate database and virtual host. Its parts run inside the test's process (fast, with injected
 * dependencies) or as processes that can be killed. Disposing it closes everything. Only the parts that a file opens
 * are loaded: listeners and workers take half a second of processor time each.
 */
export interface Product extends AsyncDisposable {
  env: Record<string, string>
  config: Config
  db: Knex
  /** opens an HTTP ingress in this process; @param env additional settings; @returns its address */
  ingress(override?: Partial<IngressDeps>, env?: Record<string, string>): Promise<{ base: string; deps: IngressDeps }>
  /** opens the listener of e-mail pings in this process */
  mail(): Promise<{ port: number; deps: MailDeps }>
  /** starts workers in this process; all of them when none is named */
  workers(names?: readonly string[], override?: Partial<WorkerDeps>): Promise<WorkerDeps & AsyncDisposable>
  /** @param folder where the release stands; by default this one */
  spawn(
    what: keyof typeof entryFiles,
    args?: readonly string[],
    env?: Record<string, string>,
    folder?: string,
  ): SpawnedProcess
  project(): Promise<TestProject>
}

export interface ProductOptions {
  /** settings that differ from those of tests; DATABASE_URL and AMQP_URL may name other servers */
  env?: Readonly<Record<string, string>>
  /** uses the login with row security, like `make up`, in place of the owner */
  hasRowSecurity?: boolean
  /** a listener that is started at once; the product has its address and dependencies */
  listener?: 'http' | 'mail'
  /** workers that run beside the HTTP listener; by default the ping evaluator, without which reads would wait for their barrier */
  workers?: readonly string[]
  override?: Partial<IngressDeps>
}

/** The product with its HTTP listener open. */
export interface HttpProduct extends Product {
  /** address on which it listens, which is also its public address; no slash at the end */
  url: string
  port: number
  deps: IngressDeps
}

/** The product with its listener of e-mail pings open. */
export interface MailListener extends Product {
  port: number
  deps: MailDeps
}

/** The dependencies of a listener that is opened immediately. */
const LISTENING = { PING_SHARDS: '1', ALLOW_PRIVATE_TARGETS: 'true' }
/** The domain of e-mail pings in tests. */
export const MAIL_DOMAIN = 'hc.example.org'

/** Opens the product for a test: on a separate database and virtual host, with the named parts. */
export async function openProduct(options: ProductOptions & { listener: 'http' }): Promise<HttpProduct>
export async function openProduct(options: ProductOptions & { listener: 'mail' }): Promise<MailListener>
export async function openProduct(options?: ProductOptions): Promise<Product>
export async function openProduct(options: ProductOptions = {}): Promise<Product> {
  const { env = {}, hasRowSecurity = false, listener, workers: names = ['ping-evaluator'], override } = options
  if (listener === 'mail') {
    const product = await openGround({ PING_EMAIL_DOMAIN: MAIL_DOMAIN, ...LISTENING, ...env }, hasRowSecurity)
    return Object.assign(product, await product.mail())
  }
  if (listener === undefined) return await openGround(env, hasRowSecurity)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  // If the product does not open, close everything: open handles would keep the test process alive.
  await using cleanup = new AsyncDisposableStack()
  const product = await openGround({ PUBLIC_URL: url, ...LISTENING, ...env }, hasRowSecurity)
  cleanup.use(product)
  if (names.length > 0) await product.workers(names)
  const { deps } = await product.ingress(override, { PORT: env.PORT ?? String(port) })
  if (names.includes('ping-evaluator')) waitForEveryBarrier(deps)
  cleanup.move()
  return Object.assign(product, { url, port, deps })
}

/** The real threads, with longer time limits for tasks, because the machine may be busy. */
async function openPatientThreads(deps: Pick<IngressDeps, 'log' | 'metrics'>) {
  const { openThreads } = await import('#shared/platform/process/threads.ts')
  const tasks = new URL('../../ingress/threads/tasks.ts', import.meta.url)
  return openThreads<IngressTasks>(tasks, deps, { taskMs: 120_000 })
}

/** Number of repeated waits of a read, some twenty seconds, so that a busy machine does not fail a test. */
const BARRIER_TRIES = 40

/** The real barrier, with a longer timeout than callers of the API have. */
export function waitForEveryBarrier(deps: IngressDeps): void {
  const { barrier } = deps
  deps.barrier = {
    async pass(checkIds) {
      let lagMs = 0
      for (let attempt = 1; attempt <= BARRIER_TRIES; attempt++) {
        lagMs = await barrier.pass(checkIds)
        if (lagMs === 0) break
      }
      return lagMs
    },
  }
}

const NO_LIMITS = {
  API_RATE_LIMIT_PER_MINUTE: '0',
  PUBLIC_RATE_LIMIT_PER_MINUTE: '0',
  PAGE_RATE_LIMIT_PER_MINUTE: '0',
}

/** Creates database, virtual host and settings, without starting a part of the product. */
async function openGround(env: Readonly<Record<string, string>>, hasRowSecurity: boolean): Promise<Product> {
  const resources = new AsyncDisposableStack()
  const { url: databaseUrl, loginUrl } =
    env.DATABASE_URL === undefined
      ? resources.use(await createDatabase())
      : { url: env.DATABASE_URL, loginUrl: env.DATABASE_URL }
  const amqpUrl = env.AMQP_URL ?? resources.use(await createVhost()).url
  const settings: Record<string, string> = {
    DATABASE_URL: hasRowSecurity ? loginUrl : databaseUrl,
    AMQP_URL: amqpUrl,
    SECRET_KEY: randomBytes(32).toString('hex'),
    HOST: '127.0.0.1',
    PORT: '0',
    SMTP_PORT: '0',
    PING_SHARDS: '2',
    METRICS_PORT: '0',
    // Several products run at once, and a default server accepts a hundred connections.
    DB_POOL: '5',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    ...NO_LIMITS,
    SWEEP_SETTLE_SECONDS: '0',
    // For a stalled machine; tests of deadlines set another value. A killed listener delays the sweep this long.
    PUBLISH_TIMEOUT_MS: '15000',
    DATABASE_TIMEOUT_MS: '20000',
    NODE_ENV: 'test',
    ...env,
  }
  const config = loadConfig(settings)
  const log = createLog(config.logLevel, 'test')
  const [server = databaseUrl] = splitHosts(databaseUrl)
  const db = knex({ client: 'pg', connection: server, pool: { min: 0, max: 5 } })
  resources.defer(() => db.destroy())
  const secrets = createSecrets(config.secretKey)

  async function key(projectId: number, kind: KeyKind): Promise<string> {
    const text = generateKey(kind, randomBytes)
    const foldedDigest = secrets.digest(text.toLowerCase())
    const sealed = kind === 'ping' ? { sealed: secrets.seal('ping-key', text), foldedDigest } : {}
    await insertProjectKey(db, { projectId, kind, prefix: keyPrefix(text), digest: secrets.digest(text), ...sealed })
    return text
  }

  return {
    env: settings,
    config,
    db,
    async ingress(override, own) {
      const itsConfig = own ? loadConfig({ ...settings, ...own }) : config
      const { startIngress } = await import('../../ingress/start-ingress.ts')
      const { server, deps } = await startIngress(resources, itsConfig, log, override)
      if (!override?.threads) deps.threads = resources.use(await openPatientThreads(deps))
      await deps.broker.connected()
      return { base: `http://127.0.0.1:${server.port}`, deps }
    },
    async mail() {
      const { startMailIngress } = await import('../../ingress/smtp/start-mail-ingress.ts')
      const { server, deps } = await startMailIngress(resources, config, log)
      await deps.broker.connected()
      return { port: server.port, deps }
    },
    async workers(names, override) {
      const { startWorkers } = await import('../../workers/start-workers.ts')
      const own = new AsyncDisposableStack()
      const chosen = names ? await loadWorkers(names) : (await import('../../workers/registry.ts')).workers
      const deps = await startWorkers(own, chosen, config, log, override)
      await deps.broker.connected()
      resources.use(own)
      return { ...deps, [Symbol.asyncDispose]: () => own.disposeAsync() }
    },
    spawn(what, args = [], extra = {}, folder = root) {
      const child = spawn(process.execPath, commandOf(what, args), {
        cwd: folder,
        env: { PATH: process.env.PATH ?? '', ...compileCache(), ...settings, LOG_LEVEL: 'info', ...extra },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const spawned = follow(child)
      resources.defer(async () => {
        spawned.signal('SIGKILL')
        await spawned.exited
      })
      return spawned
    },
    async project() {
      const [organisation] = await db('organisations').insert({ name: 'Test' }).returning(['id'])
      const organisationId = Number(organisation?.id)
      const project = await insertProject(db, { organisationId, name: 'Test' })
      return {
        id: project.id,
        uuid: project.uuid,
        organisationId,
        apiKey: await key(project.id, 'rw'),
        apiKeyReadonly: await key(project.id, 'ro'),
        pingKey: await key(project.id, 'ping'),
      }
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Returns the port that a spawned HTTP or mail listener reports. */
export async function listeningPort(spawned: SpawnedProcess): Promise<number> {
  const look = () => {
    const found = /"port":(\d+)[^\n]*(?:http|smtp)\.listening/.exec(spawned.output())
    return found ? Number(found[1]) : undefined
  }
  return await eventually('the listener to listen', look)
}

function follow(child: ChildProcess): SpawnedProcess {
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const exited = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null))
  return {
    pid: child.pid ?? 0,
    output: () => output,
    signal: (signal) => void child.kill(signal),
    async stop() {
      child.kill('SIGTERM')
      return await exited
    },
    exited,
  }
}
