import { setTimeout as sleep } from 'node:timers/promises'
import { financingRequested } from '#shared/contracts/worker-messages.ts'
import type { ApiEnv } from '#shared/environment.ts'
import { claimJobs, finishJobs } from '#shared/jobs/store.ts'
import { batched } from '#shared/platform/process/batch.ts'
import { cachedPerEnv } from '#shared/risk/domain-keys/cache.ts'
import { searchTerms } from '#shared/risk/first-financing/fingerprints-of-request.ts'
import { ensureFinancingKeys } from '#shared/risk/first-financing/keys-store.ts'
import { isBlind, type ReceivableInput } from '#shared/risk/first-financing/request-fingerprints.ts'
import type {
  AcceptanceRequest,
  CheckRequest,
  DisputeBody,
  RegistrationBody,
} from '#shared/risk/first-financing/requests.ts'
import { disputeView, registrationView } from '#shared/risk/first-financing/view.ts'
import { acceptTransfer } from '#shared/risk/operations/accept-transfer.ts'
import {
  checkReceivables,
  findReceivableMatches,
  type ReceivableCheck,
} from '#shared/risk/operations/check-receivables.ts'
import { disputeRegistration } from '#shared/risk/operations/dispute-registration.ts'
import { registerReceivable } from '#shared/risk/operations/register-receivable.ts'
import { indianDay } from '#shared/risk/packs/money.ts'
import { type FinancingScenario, financingScenario } from '#shared/risk/registries/sandbox/scenarios.ts'
import { toMillis } from '#shared/time.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { endJob, type OpenJob, ownerOf, subscribeJobs } from '../jobs/job-worker.ts'
import { blindHandlers, subscribeSnapshots } from './blind.ts'

const CHECK_BATCH = 64
/** Longer than the ingress waits by default (docs/spec/risk-signals.md#sandbox-digits). */
const SLOW_MS = 12_000

const NO_SCENARIO: FinancingScenario = { added: [], isResolved: true, isRegisteredElsewhere: false, isSlow: false }

export const financingRegistrar: Worker = {
  name: 'financing-registrar',
  start: (deps) => [
    subscribeJobs('financing-registrar', financingRequested, createHandlers(deps), deps),
    subscribeSnapshots('financing-registrar', deps),
  ],
}

function createHandlers(deps: WorkerDeps) {
  const keysOf = cachedPerEnv((env) => ensureFinancingKeys(deps.db, deps.secrets, env))
  const finishChecks = batched((checks: readonly OpenCheck[]) => storeChecks(deps, checks), {
    largest: CHECK_BATCH,
    isolate: true,
  })
  const operationDeps = (enqueue: Parameters<Parameters<typeof endJob>[2]>[1]) => ({
    enqueue,
    secrets: deps.secrets,
    now: deps.now,
  })

  async function scenarioOf(env: ApiEnv, receivable: ReceivableInput): Promise<FinancingScenario> {
    if (env !== 'SANDBOX' || isBlind(receivable)) return NO_SCENARIO
    const scenario = financingScenario(receivable, indianDay(toMillis(deps.now())).slice(0, 7))
    if (scenario.isSlow) await sleep(SLOW_MS)
    return scenario
  }

  return {
    async 'financing.check'(job: OpenJob) {
      const { receivable, window, statement } = job.request as CheckRequest
      const { added, isResolved } = await scenarioOf(job.env, receivable)
      const fingerprints = searchTerms(await keysOf(job.env), receivable, window)
      const { organisationId, env } = job
      await finishChecks({
        job,
        check: {
          checkId: job.id,
          organisationId,
          env,
          fingerprints,
          isBlind: isBlind(receivable),
          statement,
          added,
          isResolved,
        },
      })
    },
    async 'financing.registration'(job: OpenJob) {
      const request = job.request as RegistrationBody
      const { isRegisteredElsewhere } = await scenarioOf(job.env, request.fields)
      const keys = await keysOf(job.env)
      await endJob(deps, job, async (tx, enqueue, writes) => {
        const wanted = { ...request, isRegisteredElsewhere }
        const made = await registerReceivable(tx, ownerOf(job), job.id, wanted, keys, {
          ...operationDeps(enqueue),
          writes,
        })
        if ('refusal' in made) return made
        return { status: made.isNew ? 201 : 200, body: registrationView(made.registration, toMillis(deps.now())) }
      })
    },
    async 'financing.acceptance'(job: OpenJob) {
      const request = job.request as AcceptanceRequest
      const keys = await keysOf(job.env)
      await endJob(deps, job, async (tx, enqueue) => {
        const made = await acceptTransfer(tx, ownerOf(job), job.id, request, keys, operationDeps(enqueue))
        return 'refusal' in made
          ? made
          : { status: 201, body: registrationView(made.registration, toMillis(deps.now())) }
      })
    },
    ...blindHandlers(deps, keysOf),
    async 'financing.dispute'(job: OpenJob) {
      const request = job.request as DisputeBody
      const keys = await keysOf(job.env)
      await endJob(deps, job, async (tx, enqueue) => {
        const made = await disputeRegistration(tx, ownerOf(job), job.id, request, keys, operationDeps(enqueue))
        return 'refusal' in made ? made : { status: 201, body: disputeView(made.dispute) }
      })
    },
  }
}

interface OpenCheck {
  job: OpenJob
  check: ReceivableCheck
}

/** One transaction; skips checks that another copy of their message ended. */
async function storeChecks(deps: WorkerDeps, checks: readonly OpenCheck[]): Promise<true[]> {
  const ids = checks.map(({ job }) => job.id)
  const receivableChecks = checks.map(({ check }) => check)
  await deps.outbox.runPrepared(async ({ tx, writes }) => {
    const [open, found] = await Promise.all([claimJobs(tx, ids), findReceivableMatches(tx, receivableChecks)])
    const taken = checks.filter(({ job }) => open.has(job.id))
    if (taken.length === 0) return
    const answered = taken.map(({ check }) => check)
    const answers = await checkReceivables(tx, answered, found, { now: deps.now, writes })
    await finishJobs(
      writes,
      taken.map(({ job }, index) => ({ job, body: JSON.stringify(answers[index]) })),
    )
    deps.crashPoint('job-half-stored')
  })
  deps.crashPoint('job-stored')
  return checks.map(() => true)
}
