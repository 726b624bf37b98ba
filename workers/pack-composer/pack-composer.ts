import { LRUCache } from 'lru-cache'
import { packRequested } from '#shared/contracts/worker-messages.ts'
import { UnavailableError } from '#shared/errors.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import { isRetryable } from '#shared/platform/database/db.ts'
import { batched } from '#shared/platform/process/batch.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { refreshed } from '#shared/platform/process/refreshed.ts'
import { ensureSandboxKey, listInvoiceKeys } from '#shared/risk/invoice-keys/store.ts'
import { composePack } from '#shared/risk/packs/compose-pack.ts'
import { indianDay } from '#shared/risk/packs/money.ts'
import type { PackRequest } from '#shared/risk/packs/request.ts'
import type { InvoiceKey } from '#shared/risk/packs/signals/invoice-keys.ts'
import { findPackJobs, type PackJob } from '#shared/risk/packs/store.ts'
import { gatherRegistryResults } from '#shared/risk/registries/gather.ts'
import { demoInvoiceTokens } from '#shared/risk/registries/sandbox/demo-invoices.ts'
import { createSandboxRegistries, SANDBOX_SEED, withDemoConsents } from '#shared/risk/registries/sandbox/registries.ts'
import { withSandboxFindings } from '#shared/risk/registries/sandbox/scenarios.ts'
import { toMillis } from '#shared/time.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { openProductionRegistries, registryTools } from '../registries.ts'
import { createFirstRecords } from './first-records.ts'
import { createPackStore, storeFailure } from './store-pack.ts'

/** High, because a pack mostly waits for registries. */
const PREFETCH = 32
const INVOICE_KEYS_MAX_AGE_MS = 30_000

/** Composes and stores packs. Then sends an empty message to the ingress that waits for the pack. */
export const packComposer: Worker = {
  name: 'pack-composer',
  start(deps) {
    const composer = createComposer(deps)
    return [composer, subscribe('pack-composer', on(packRequested, PREFETCH, composer.handle), deps)]
  },
}

function createComposer(deps: WorkerDeps) {
  const nowMs = () => toMillis(deps.now())
  const tools = registryTools(nowMs)
  const production = openProductionRegistries(deps.config, tools)
  const demoTokens = createDemoTokens()
  const invoiceKeys = refreshed(async (known?: { sandboxPem: string; keys: InvoiceKey[] }) => ({
    sandboxPem: known?.sandboxPem ?? (await ensureSandboxKey(deps.db, deps.secrets)),
    keys: await listInvoiceKeys(deps.db),
  }))
  const findJob = batched(
    async (ids: readonly string[]) => {
      const jobs = new Map((await findPackJobs(deps.db, ids)).map((job) => [job.id, job]))
      return ids.map((id) => jobs.get(id) ?? null)
    },
    { largest: PREFETCH },
  )
  const recordFirst = createFirstRecords(deps)
  const storePack = createPackStore(deps)
  const stop = new AbortController()

  async function handle({ packId, replyTo }: { packId: string; replyTo?: string | undefined }): Promise<void> {
    const job = await findJob(packId)
    if (job?.state === 'QUEUED') await finish(job)
    if (replyTo === undefined) return
    deps.broker.send({ exchange: '', routingKey: replyTo, body: EMPTY, correlationId: packId })
  }

  async function finish(job: PackJob): Promise<void> {
    const startedAt = performance.now()
    try {
      const { pack, evidence } = await compose(job)
      await storePack({ job, pack, evidence })
      const durationMs = Math.round(performance.now() - startedAt)
      deps.log.info({ packId: job.id, env: job.env, signalLevel: pack.signalLevel, durationMs }, 'pack.composed')
    } catch (error) {
      // The runtime retries database errors; a stopping worker returns the message.
      if (error instanceof UnavailableError || isRetryable(error) || stop.signal.aborted) throw error
      deps.log.error({ packId: job.id, ...describeError(error) }, 'pack.failed')
      await storeFailure(deps, job, 'INTERNAL')
    }
  }

  async function compose(job: PackJob) {
    // The ingress validated the request before it sealed it.
    const original = JSON.parse(deps.secrets.open('pack-request', job.sealedRequest)) as PackRequest
    const isSandbox = job.env === 'SANDBOX'
    const request = isSandbox ? withDemoConsents(original) : original
    const { keys, sandboxPem } = await invoiceKeys(INVOICE_KEYS_MAX_AGE_MS)
    const [registryResults, found] = await Promise.all([
      gatherRegistryResults({
        registries: isSandbox ? createSandboxRegistries({ seed: SANDBOX_SEED, request }, tools) : production.registries,
        request,
        env: job.env,
        orgId: job.organisationUuid,
        requestId: job.id,
        now: nowMs(),
        signal: stop.signal,
      }),
      recordFirst(job, request, keys),
    ])
    // A response that our own shutdown aborted must not become a pack.
    stop.signal.throwIfAborted()
    deps.crashPoint('pack-gathered')
    const at = nowMs()
    return composePack({
      packId: job.id,
      generatedAt: new Date(at).toISOString(),
      env: job.env,
      request,
      registryResults,
      registryFindings: isSandbox ? withSandboxFindings(found, request, indianDay(at).slice(0, 7)) : found,
      eInvoiceTokens: tokensOf(request, isSandbox, sandboxPem, at),
      invoiceKeys: keys,
    })
  }

  /** One demo invoice per leg, for a sandbox request without tokens. */
  function tokensOf(request: PackRequest, isSandbox: boolean, sandboxPem: string, at: number): readonly string[] {
    const tokens = request.eInvoices ?? []
    return tokens.length === 0 && isSandbox ? demoTokens(request, sandboxPem, at) : tokens
  }

  return {
    handle,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await production[Symbol.asyncDispose]()
    },
  }
}

const EMPTY = Buffer.alloc(0)

/** Caches per day, because RSA signatures are expensive. */
function createDemoTokens(): (request: PackRequest, privateKeyPem: string, nowMs: number) => string[] {
  const cache = new LRUCache<string, string[]>({ max: 5_000 })
  return (request, privateKeyPem, nowMs) => {
    const day = Math.floor(nowMs / 86_400_000)
    const key = [day, request.buyerGstin, request.borrowerGstin, request.subcontractorGstin].join('/')
    const known = cache.get(key)
    if (known) return known
    const tokens = demoInvoiceTokens(request, SANDBOX_SEED, privateKeyPem, nowMs)
    cache.set(key, tokens)
    return tokens
  }
}
