import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import knex, { type Knex } from 'knex'
import { ALL_HEAP, IMPORTER_HEAP, INGRESS_HEAP, LOADER } from '../stack/stack-settings.ts'
import { freePort } from '../stack/wait-until-ready.ts'
import { createDatabase, createVhost } from '../test/support/services.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

export interface BenchStack extends AsyncDisposable {
  db: Knex
  env: Record<string, string>
  /** starts an ingress and waits until it is ready */
  ingress(): Promise<{ port: number; metricsPort: number; child: ChildProcess }>
  workers(...names: string[]): Promise<ChildProcess>
  /** Starts one process for everything. @returns with `readyMs` the time from its start to its readiness */
  all(): Promise<{ port: number; child: ChildProcess; readyMs: number }>
  /** Starts the bare server for comparison. @returns its port */
  bare(): Promise<number>
}

/** @param tree folder of the product; default this tree */
export async function openBenchStack(extra: Record<string, string> = {}, tree = root): Promise<BenchStack> {
  const resources = new AsyncDisposableStack()
  const database = resources.use(await createDatabase())
  const vhost = resources.use(await createVhost())
  const db = knex({ client: 'pg', connection: database.url, pool: { min: 0, max: 4 } })
  resources.defer(() => db.destroy())
  const env = {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: database.url,
    AMQP_URL: vhost.url,
    SECRET_KEY: randomBytes(32).toString('hex'),
    HOST: '127.0.0.1',
    METRICS_PORT: '0',
    LOG_LEVEL: 'error',
    API_RATE_LIMIT_PER_MINUTE: '0',
    // High enough that the limit is checked, but never reached.
    PING_RATE_LIMIT_PER_MINUTE: '10000000',
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    NODE_ENV: 'production',
    LOCAL_ENV_FILE: '',
    ...extra,
  }

  function run(
    file: string,
    args: readonly string[],
    settings: Record<string, string> = {},
    heap: readonly string[] = [],
  ): ChildProcess {
    const child = spawn(process.execPath, [...heap, ...loaderOf(tree), file, ...args], {
      cwd: tree,
      env: { ...env, ...settings },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    resources.defer(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await new Promise((resolve) => child.once('exit', resolve))
    })
    return child
  }

  return {
    db,
    env,
    async ingress() {
      const port = await freePort()
      const metricsPort = await freePort()
      const child = run('ingress/main.ts', [], { PORT: String(port), METRICS_PORT: String(metricsPort) }, INGRESS_HEAP)
      await answering(`http://127.0.0.1:${port}/readyz`)
      return { port, metricsPort, child }
    },
    async workers(...names) {
      const port = await freePort()
      // As in compose.yaml; the previous build may have used other options.
      const heap = tree === root && names.join() === 'tape-importer' ? IMPORTER_HEAP : []
      const child = run('workers/main.ts', names, { METRICS_PORT: String(port) }, heap)
      await answering(`http://127.0.0.1:${port}/readyz`)
      return child
    },
    async all() {
      const [port, smtpPort, metricsPort] = [await freePort(), await freePort(), await freePort()]
      const began = performance.now()
      const settings = { PORT: String(port), SMTP_PORT: String(smtpPort), METRICS_PORT: String(metricsPort) }
      const child = run('all/main.ts', [], settings, ALL_HEAP)
      await answering(`http://127.0.0.1:${metricsPort}/readyz`, 20)
      return { port, child, readyMs: performance.now() - began }
    },
    async bare() {
      const port = await freePort()
      run('bench/bare-server.ts', [String(port)])
      await answering(`http://127.0.0.1:${port}/`)
      return port
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** @returns uuids of the checks */
export async function addChecks(db: Knex, count: number): Promise<string[]> {
  await db.raw("INSERT INTO organisations (name) VALUES ('bench')")
  await db.raw("INSERT INTO projects (organisation_id, name) SELECT max(id), 'bench' FROM organisations")
  const { rows } = await db.raw<{ rows: { uuid: string }[] }>(
    `INSERT INTO checks (project_id, name)
     SELECT (SELECT max(id) FROM projects), 'check ' || n FROM generate_series(1, ?::int) n RETURNING uuid`,
    [count],
  )
  return rows.map(({ uuid }) => uuid)
}

/** A tree from before the loader reads TypeScript with tsx. */
function loaderOf(tree: string): readonly string[] {
  return existsSync(join(tree, LOADER[1])) ? LOADER : ['--import', 'tsx']
}

async function answering(url: string, intervalMs = 100): Promise<void> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; ) {
    const answer = await fetch(url).catch(() => null)
    if (answer?.status === 200) return
    await sleep(intervalMs)
  }
  throw new Error(`nothing answers at ${url}`)
}
