import { Gauge } from 'prom-client'
import type { ApiEnv } from '#shared/environment.ts'
import { createHttpClient } from '#shared/platform/http/http-client.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { parseVerifierKey } from '#shared/transparency/anchoring/note-key.ts'
import { environmentsWaiting, waitingEntries } from '#shared/transparency/anchoring/store.ts'
import { recordLogRefusal } from '#shared/transparency/log-keys/log-state-store.ts'
import { ensureLogSigner, findLogKey } from '#shared/transparency/log-keys/store.ts'
import { checkpointFile } from '#shared/transparency/providers/checkpoint-file.ts'
import { createOpenTimestamps } from '#shared/transparency/providers/open-timestamps.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { advanceLog, type LogDeps } from './advance-log.ts'
import { LogRefusedError, LogReplacedError } from './log-refused-error.ts'
import { watchOtherSequencers } from './other-sequencers.ts'
import { createWitnessing, type Witness } from './request-cosignatures.ts'
import { submitOutside } from './submit-outside.ts'

const ENVS: readonly ApiEnv[] = ['SANDBOX', 'PRODUCTION']

/** A fixed interval, so that checkpoints reveal little about when an object was anchored. */
const CHECKPOINT_EVERY_MS = 1_000
/**
 * Interval of full steps of a log without waiting entries. A full step compares the log with its saved checkpoint and
 * finishes an interrupted batch.
 */
const FULL_STEP_EVERY_MS = 10_000
const OUTSIDE_EVERY_MS = 30_000
/** Minimum time between two log lines about a refusal. */
const REPEAT_LOG_MS = 60_000

/** Sequences, signs and publishes, then contacts witnesses and outside networks. */
export const anchor: Worker = {
  name: 'anchor',
  sends: true,
  start(deps) {
    // The operator chose the witnesses and calendars, so they may be in the operator's network.
    const http = createHttpClient({ policy: { allowPrivate: true, plainHttp: 'anywhere' }, userAgent: 'signalbox' })
    const witnessing = createWitnessing(readWitnesses(deps), { db: deps.db, http, log: deps.log })
    const metrics = logMetrics(deps)
    const parts: AsyncDisposable[] = [http]
    const hasWaiting = sharedGlance(deps.db)
    for (const env of ENVS) {
      const step = createStep(deps, env, { metrics, witnessing, hasWaiting })
      parts.push(every(CHECKPOINT_EVERY_MS, step))
    }
    if (deps.config.otsCalendarUrls.length > 0) {
      const calendars = deps.config.otsCalendarUrls.map((url) => url.replace(/\/+$/, ''))
      const adapter = createOpenTimestamps({ calendars, request: (request) => http.request(request) })
      parts.push(
        every(OUTSIDE_EVERY_MS, async () => {
          for (const env of ENVS) {
            await submitOutside(deps, env, adapter).catch((error: unknown) => {
              deps.log.warn({ env, ...describeError(error) }, 'outside.failed')
            })
          }
          return false
        }),
      )
    }
    return parts
  },
}

function createStep(
  deps: WorkerDeps,
  env: ApiEnv,
  parts: {
    metrics: ReturnType<typeof logMetrics>
    witnessing: ReturnType<typeof createWitnessing>
    hasWaiting: (env: ApiEnv) => Promise<boolean>
  },
): () => Promise<boolean> {
  const { metrics, witnessing, hasWaiting } = parts
  const log = deps.log.child({ env })
  let target: LogDeps | undefined
  let loggedAt = 0
  let isWitnessed = true
  /** monotonic milliseconds of the last complete step */
  let advancedAt = Number.NEGATIVE_INFINITY

  return async () => {
    try {
      const mayRest = isWitnessed && performance.now() - advancedAt < FULL_STEP_EVERY_MS
      if (mayRest && !(await hasWaiting(env))) {
        metrics.steppedAt.setToCurrentTime({ env })
        return false
      }
      // The first entry creates the key, which has the name of PUBLIC_URL for ever.
      if (!target && !(await hasWaiting(env)) && !(await findLogKey(deps.db, env))) {
        advancedAt = performance.now()
        metrics.steppedAt.setToCurrentTime({ env })
        return false
      }
      target ??= await openLog(deps, env)
      const advance = await advanceLog(target)
      if (!advance) return false
      if (!advance.isFull) advancedAt = performance.now()
      metrics.refused.set({ env }, 0)
      loggedAt = 0
      metrics.steppedAt.setToCurrentTime({ env })
      metrics.size.set({ env }, advance.size)
      metrics.waiting.set({ env }, advance.isFull ? (await waitingEntries(deps.db, env)).count : 0)
      if (advance.added > 0) {
        log.info({ size: advance.size, added: advance.added }, 'checkpoint.published')
        isWitnessed = false
      }
      if (!advance.isFull && !isWitnessed)
        isWitnessed = (await witnessing.cosignNewest(env)) || !witnessing.hasWitnesses
      return advance.isFull
    } catch (error) {
      advancedAt = Number.NEGATIVE_INFINITY
      if (error instanceof LogReplacedError) {
        log.warn(describeError(error), 'log.replaced')
        target = undefined
      } else if (error instanceof LogRefusedError) await refuse(error)
      else log.warn(describeError(error), 'log.not-advanced')
      return false
    }
  }

  /** The log line is repeated each minute; the database has the reason for `admin doctor`. */
  async function refuse(error: LogRefusedError): Promise<void> {
    metrics.refused.set({ env }, 1)
    if (Date.now() - loggedAt <= REPEAT_LOG_MS) return
    loggedAt = Date.now()
    log.error(describeError(error), 'log.refused')
    await recordLogRefusal(deps.db, env, error.message).catch((failure: unknown) => {
      log.warn(describeError(failure), 'log.refusal-not-recorded')
    })
  }
}

async function openLog({ db, secrets, config, crashPoint }: WorkerDeps, env: ApiEnv): Promise<LogDeps> {
  const signer = await ensureLogSigner(db, secrets, env, config.publicUrl)
  const file = checkpointFile(config.checkpointDir, signer.key)
  return { db, env, signer, file, others: watchOtherSequencers(), crashPoint }
}

/** The returned function finds out if entries of an environment wait. The logs of both environments share one query. */
function sharedGlance(db: WorkerDeps['db']): (env: ApiEnv) => Promise<boolean> {
  let last = { at: Number.NEGATIVE_INFINITY, found: Promise.resolve<ApiEnv[]>([]) }
  return async (env) => {
    if (performance.now() - last.at > CHECKPOINT_EVERY_MS / 2)
      last = { at: performance.now(), found: environmentsWaiting(db) }
    return (await last.found).includes(env)
  }
}

/** @throws Error when the two settings differ in length: a cosignature without a known key cannot be verified */
function readWitnesses({ config }: WorkerDeps): Witness[] {
  const { witnessUrls, witnessKeys } = config
  if (witnessUrls.length !== witnessKeys.length)
    throw new Error('WITNESS_URLS and WITNESS_KEYS must have the same number of entries')
  return witnessUrls.map((url, index) => ({ url, key: parseVerifierKey(witnessKeys[index] ?? '') }))
}

function logMetrics({ metrics }: WorkerDeps) {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['env'], registers: [metrics.registry] })
  return {
    size: gauge('signalbox_log_size', 'Entries covered by the newest checkpoint.'),
    refused: gauge(
      'signalbox_log_refused',
      '1 while nothing is signed because the database contradicts the last signed checkpoint.',
    ),
    steppedAt: gauge(
      'signalbox_log_step_timestamp_seconds',
      'Time of the last complete step. Entries stored before it are in a checkpoint, unless some are waiting.',
    ),
    waiting: gauge('signalbox_log_waiting_entries', 'Entries stored and not yet in a checkpoint.'),
  }
}

/** One run at a time. `work` returns true to be called again immediately. */
function every(intervalMs: number, work: () => Promise<boolean>): AsyncDisposable {
  let isStopping = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  function schedule(): void {
    if (isStopping) return
    // Aligned to the clock, so that the time of a checkpoint reveals nothing about when entries arrived.
    timer = setTimeout(
      () => {
        running = run()
      },
      intervalMs - (Date.now() % intervalMs),
    )
  }

  async function run(): Promise<void> {
    while (await work()) if (isStopping) break
    schedule()
  }

  schedule()
  return {
    async [Symbol.asyncDispose]() {
      isStopping = true
      clearTimeout(timer)
      await running
    },
  }
}
