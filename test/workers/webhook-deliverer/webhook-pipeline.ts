import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import knex, { type Knex } from 'knex'
import { type Config, loadConfig } from '#shared/platform/process/config.ts'
import { createLog } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from '../../../workers/define-worker.ts'
import { startWorkers } from '../../../workers/start-workers.ts'
import { sweeper } from '../../../workers/sweeper/sweeper.ts'
import { webhookDeliverer } from '../../../workers/webhook-deliverer/webhook-deliverer.ts'
import { createDatabase, createVhost } from '../../support/services.ts'
import { compileCache, readTypescript } from '../../support/typescript-process.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const known = [webhookDeliverer, sweeper]

/** Workers with a separate database and virtual host, in this process or in others that can be killed. */
export interface Pipeline extends AsyncDisposable {
  config: Config
  db: Knex
  workers(names: readonly string[], override?: Partial<WorkerDeps>): Promise<WorkerDeps & AsyncDisposable>
  /** a workers process; ended with the pipeline */
  spawn(names: readonly string[], env?: Record<string, string>): ChildProcess
}

export async function openPipeline(env: Record<string, string> = {}): Promise<Pipeline> {
  const resources = new AsyncDisposableStack()
  const databaseUrl = env.DATABASE_URL ?? resources.use(await createDatabase()).url
  const settings = {
    DATABASE_URL: databaseUrl,
    AMQP_URL: resources.use(await createVhost()).url,
    SECRET_KEY: randomBytes(32).toString('hex'),
    HOST: '127.0.0.1',
    METRICS_PORT: '0',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    NODE_ENV: 'test',
    DATABASE_TIMEOUT_MS: '30000',
    PUBLISH_TIMEOUT_MS: '30000',
    ...env,
  }
  const config = loadConfig(settings)
  const log = createLog(config.logLevel, 'test')
  const db = knex({ client: 'pg', connection: databaseUrl, pool: { min: 0, max: 5 } })
  // A killed server closes idle connections; the pool opens new ones.
  db.client.pool?.on?.('error', () => {})
  resources.defer(() => db.destroy())
  return {
    config,
    db,
    async workers(names, override) {
      const workerResources = new AsyncDisposableStack()
      const chosen = known.filter(({ name }) => names.includes(name))
      const deps = await startWorkers(workerResources, chosen, config, log, override)
      await deps.broker.connected()
      resources.use(workerResources)
      return { ...deps, [Symbol.asyncDispose]: () => workerResources.disposeAsync() }
    },
    spawn(names, extra = {}) {
      const child = spawn(process.execPath, [readTypescript, 'workers/main.ts', ...names], {
        cwd: root,
        env: { PATH: process.env.PATH ?? '', ...compileCache(), ...settings, ...extra },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const exited = once(child, 'exit')
      resources.defer(async () => {
        child.kill('SIGKILL')
        await exited
      })
      return child
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
