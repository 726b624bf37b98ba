import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandLineError, parseOptions } from '#shared/platform/process/command-line.ts'
import type { AnswerLine, CallDeps, CallLine } from './calls.ts'
import { type Composition, composeGateway, healthOf } from './compose.ts'
import { openProviderHttp } from './provider-http.ts'
import { createGatewayServer } from './server.ts'
import { loadSettings, type Settings, testSettings } from './settings.ts'
import { derivedKey, openStore } from './store.ts'

const TICK_MS = 5000

/** Serves the contract until SIGTERM or SIGINT. */
export async function serve(args: readonly string[]): Promise<number> {
  const { values } = parseOptions({ args: [...args], options: { test: { type: 'boolean', default: false } } })
  const settings = loadSettings(process.env)
  const tests = testSettings(settings)
  // Data of a test environment must not be read as production data.
  if (tests.length > 0 && !values.test) {
    throw new CommandLineError(`${tests.join(', ')}: a test environment of a provider; start with "serve --test"`)
  }
  using store = openStore(settings.GATEWAY_STATE, derivedKey(settings.GATEWAY_KEY, 'state'))
  await using client = openProviderHttp()
  const composition = composeGateway(settings, liveDeps(client.http, logCall), {
    ...{ store, fault: logFault, answered: logAnswer },
  })
  const { consented } = composition
  const ticks = setInterval(() => void consented?.tick().catch(logFault), TICK_MS)
  const server = createGatewayServer({
    gateway: composition.gateway,
    token: settings.GATEWAY_TOKEN,
    adminToken: settings.GATEWAY_ADMIN_TOKEN,
    leiPath: settings.GATEWAY_LEI_PATH,
    admin: async (request) => await consented?.api.handle(request),
    health: async () => healthOf(composition, Date.now()),
    metrics: () => metricsOf(composition),
    isWritable: () => isWritable(settings),
    fault: logFault,
  })
  server.listen(settings.GATEWAY_PORT, settings.GATEWAY_HOST)
  await once(server, 'listening')
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : settings.GATEWAY_PORT
  console.log(`listening on http://${settings.GATEWAY_HOST}:${port}; adapters: ${namesOf(composition)}`)
  await Promise.race(['SIGTERM', 'SIGINT'].map((signal) => once(process, signal)))
  clearInterval(ticks)
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  await Promise.race([closed, sleep(4000, undefined, { ref: false })])
  server.closeAllConnections()
  return 0
}

/** Returns the dependencies of provider calls with the real clock. */
export function liveDeps(http: CallDeps['http'], report: CallDeps['report']): CallDeps {
  return { http, now: Date.now, sleep: async (ms) => void (await sleep(ms)), report }
}

async function metricsOf({ metrics, consented, keys }: Composition): Promise<string> {
  for (const [issuer, { daysLeft }] of Object.entries(keys(Date.now()))) metrics.keys.set({ issuer }, daysLeft)
  metrics.consents.reset()
  for (const [state, count] of Object.entries(consented?.api.states() ?? {})) metrics.consents.set({ state }, count)
  return await metrics.registry.metrics()
}

function namesOf({ adapters }: { adapters: readonly { name: string }[] }): string {
  return adapters.map(({ name }) => name).join(', ') || 'none'
}

function logCall(line: CallLine): void {
  console.log(JSON.stringify({ at: new Date().toISOString(), event: 'provider called', ...line }))
}

function logAnswer(line: AnswerLine): void {
  console.log(JSON.stringify({ at: new Date().toISOString(), event: 'request answered', ...line }))
}

/** Logs the kind of a fault and its place, but not its message, which may quote a value. */
function logFault(error: unknown): void {
  const place = error instanceof Error ? (/at .*\/(\S+:[0-9]+):/.exec(error.stack ?? '')?.[1] ?? null) : null
  const kind = error instanceof Error ? error.name : typeof error
  console.log(JSON.stringify({ at: new Date().toISOString(), event: 'fault', kind, place }))
}

function isWritable({ GATEWAY_STATE }: Settings): boolean {
  try {
    // A full disk or a read-only one shows only in a write.
    const file = join(GATEWAY_STATE, 'probe')
    writeFileSync(file, 'x')
    rmSync(file)
    return true
  } catch {
    return false
  }
}
