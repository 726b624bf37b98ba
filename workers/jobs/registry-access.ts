import type { RegistryContext } from '#shared/risk/registries/connector.ts'
import type { RegistrySet } from '#shared/risk/registries/registry-set.ts'
import type { BusinessQuery } from '#shared/risk/registries/sandbox/answers.ts'
import { createSandboxRegistries, SANDBOX_SEED } from '#shared/risk/registries/sandbox/registries.ts'
import { type Millis, toMillis } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { openProductionRegistries, registryTools } from '../registries.ts'
import type { OpenJob } from './job-worker.ts'

/** How long a job may wait for its registries in all; what is later is MISSING with TIMEOUT. */
const BUDGET_MS: Millis = 20_000
/** The sandbox's consent, where a caller brings none. */
const DEMO_CONSENT = 'demo-consent'

/** The registries of a worker: those of production live as long as it does. */
export interface RegistryAccess extends AsyncDisposable {
  /** @param asked what the sandbox's registries adopt of a business, so that they agree with each other */
  of(job: OpenJob, requested?: BusinessQuery): RegistrySet
  /** @param handle of the consent under which a registry is asked, where it needs one */
  context(job: OpenJob, handle?: string): RegistryContext
}

export function openRegistryAccess(deps: WorkerDeps): RegistryAccess {
  const tools = registryTools(() => toMillis(deps.now()))
  const production = openProductionRegistries(deps.config, tools)
  const stop = new AbortController()
  return {
    of: ({ env }, requested) =>
      env === 'SANDBOX' ? createSandboxRegistries({ seed: SANDBOX_SEED, requested }, tools) : production.registries,
    context({ env, organisationUuid, id }, handle) {
      const given = handle ?? (env === 'SANDBOX' ? DEMO_CONSENT : undefined)
      const context = {
        env,
        orgId: organisationUuid,
        requestId: id,
        signal: stop.signal,
        deadline: toMillis(deps.now()) + BUDGET_MS,
      }
      const consent = { id: null, purposeCode: null, expiresAt: null }
      return given === undefined ? context : { ...context, consent: { handle: given, ...consent } }
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await production[Symbol.asyncDispose]()
    },
  }
}
