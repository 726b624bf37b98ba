import type { IntegrationTried, TrialResult } from '#shared/contracts/worker-messages.ts'
import { type Outcome, temporary } from '#shared/delivery/outcome.ts'
import { webhook } from '#shared/monitoring/integrations/kinds/webhook.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { targetOf } from './attempt.ts'
import { trialNotification } from './build-notification.ts'
import type { ConcurrencyLimiter } from './concurrency-limiter.ts'
import { decryptConfig } from './decrypt-config.ts'
import type { NotifierDeps } from './notifier-deps.ts'
import { INTERNAL_ERROR } from './send.ts'
import { sendWebhook } from './transports/webhook.ts'

const TOO_LATE = temporary('Nothing was sent: too much else is waiting', { failure: 'limit' })

type TrialDeps = Pick<NotifierDeps, 'broker' | 'config' | 'http' | 'log' | 'metrics' | 'now' | 'secrets'>

/**
 * Tries webhooks that are not stored, and replies what came of it: the attempt waits for a place at its target like any
 * other, and goes through the same client. It is made once and leaves no row.
 */
export function createTrials(deps: TrialDeps, places: ConcurrencyLimiter): (trial: IntegrationTried) => Promise<void> {
  return async (trial) => {
    const result = await attempt(trial)
    deps.broker.send({
      exchange: '',
      routingKey: trial.replyTo,
      body: Buffer.from(JSON.stringify(result)),
      correlationId: trial.trialId,
    })
  }

  async function attempt(trial: IntegrationTried): Promise<TrialResult> {
    const startedAt = performance.now()
    const seen = watched(deps.http)
    const outcome = await send(trial, seen.http)
    const durationMs = Math.round(performance.now() - startedAt)
    deps.metrics.notifications.inc({ kind: webhook.kind, outcome: outcome.result })
    deps.log.info({ trialId: trial.trialId, outcome: outcome.result, durationMs }, 'integration.tried')
    return { status: seen.status(), error: outcome.result === 'delivered' ? '' : outcome.error, durationMs }
  }

  async function send(trial: IntegrationTried, http: Pick<HttpClient, 'request'>): Promise<Outcome> {
    const parsed = webhook.parse(decryptConfig(deps, { kind: webhook.kind, sealedConfig: trial.sealedConfig }))
    if (!parsed.ok) return INTERNAL_ERROR
    const place = await places.enter(targetOf(webhook.kind, parsed.config), trial.projectId)
    if ('comeBackInMs' in place) return TOO_LATE
    try {
      if (deps.now() > trial.beginBy) return TOO_LATE
      return await sendWebhook({ http, now: Date.now }, parsed.config, trialNotification(deps, trial))
    } catch (error) {
      deps.log.error({ trialId: trial.trialId, ...describeError(error) }, 'transport.failed')
      return INTERNAL_ERROR
    } finally {
      place.leave()
    }
  }
}

/** The same client, which remembers the status of its last answer. */
function watched(http: Pick<HttpClient, 'request'>): { http: Pick<HttpClient, 'request'>; status(): number | null } {
  let status: number | null = null
  return {
    http: {
      async request(requested) {
        const answer = await http.request(requested)
        status = answer.status
        return answer
      },
    },
    status: () => status,
  }
}
