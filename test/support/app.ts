import { loadConfig } from '#shared/platform/process/config.ts'
import { createLog } from '#shared/platform/process/log.ts'
import type { IngressDeps } from '../../ingress/deps.ts'
import { openIngress } from '../../ingress/open-ingress.ts'
import { freePort } from '../../stack/free-port.ts'
import { openWorkers } from '../../workers/open-workers.ts'
import { workers } from '../../workers/registry.ts'
import { createDatabase, createVhost } from './services.ts'
import { withAlerter } from './with-alerter.ts'

export interface TestApp extends AsyncDisposable {
  /** where it listens, which is also its public address; no slash at the end */
  url: string
  port: number
  deps: IngressDeps
}

export interface AppOptions {
  /** settings that differ from the defaults of tests: no rate limit, everything silent */
  env?: Readonly<Record<string, string>>
  /** names of those that run in this process too; by default the ping evaluator, without which reads would wait for their barrier */
  workers?: readonly string[]
  override?: Partial<IngressDeps>
  /** with the login that row security binds, as `make up` has it, instead of the owner's */
  isBound?: boolean
}

/** Times a read waits again, so that a busy machine does not fail a test: some twenty seconds. */
const BARRIER_TRIES = 40

/** The HTTP ingress and workers in this process, with a database and a virtual host of their own. */
export async function openApp(options: AppOptions = {}): Promise<TestApp> {
  const resources = new AsyncDisposableStack()
  const database = resources.use(await createDatabase())
  const vhost = resources.use(await createVhost())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const config = loadConfig({
    DATABASE_URL: options.isBound ? database.loginUrl : database.url,
    AMQP_URL: vhost.url,
    SECRET_KEY: 'a secret key that only tests know, long enough',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    METRICS_PORT: '0',
    API_RATE_LIMIT_PER_MINUTE: '0',
    ALLOW_PRIVATE_TARGETS: 'true',
    LOG_LEVEL: 'silent',
    NODE_ENV: 'test',
    ...options.env,
  })
  const log = createLog(config.logLevel, 'test')
  const names = withAlerter(options.workers ?? ['ping-evaluator'])
  const chosen = workers.filter(({ name }) => names.includes(name))
  if (chosen.length !== names.length) throw new Error(`there are no such workers: ${names.join(', ')}`)
  if (chosen.length > 0) await openWorkers(resources, chosen, config, log)
  const { deps } = await openIngress(resources, config, log, options.override)
  await deps.broker.connected()
  if (names.includes('ping-evaluator')) waitForEveryBarrier(deps)
  return { url, port, deps, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

/** The real barrier, only with more patience than a caller of the API is made to have. */
function waitForEveryBarrier(deps: IngressDeps): void {
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
