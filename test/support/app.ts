import type { IngressDeps } from '../../ingress/deps.ts'
import { freePort } from '../../stack/free-port.ts'
import { openProduct } from './product.ts'

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
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const settings = {
    SECRET_KEY: 'a secret key that only tests know, long enough',
    PORT: String(port),
    PING_SHARDS: '1',
    PUBLIC_URL: url,
    ALLOW_PRIVATE_TARGETS: 'true',
    LOG_LEVEL: 'silent',
    ...options.env,
  }
  const product = await openProduct(settings, { isBound: options.isBound ?? false })
  const names = options.workers ?? ['ping-evaluator']
  if (names.length > 0) await product.workers(names)
  const { deps } = await product.ingress(options.override)
  if (names.includes('ping-evaluator')) waitForEveryBarrier(deps)
  return { url, port, deps, [Symbol.asyncDispose]: () => product[Symbol.asyncDispose]() }
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
