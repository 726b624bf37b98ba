import type { IntegrationTried, TrialResult } from '#shared/contracts/worker-messages.ts'
import { type Outcome, temporary } from '#shared/delivery/outcome.ts'
import { webhook } from '#shared/monitoring/integrations/kinds/webhook.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { trialNotification } from './build-notification.ts'
import { decryptConfig, INTERNAL_ERROR, type NotifierContext } from './context.ts'
import { acquireSlot } from './limits.ts'
import { sendWebhook } from './transports/webhook.ts'

const TOO_LATE = temporary('Nothing was sent: too much else is waiting', { failure: 'limit' })

/** Uses slots and the HTTP client like any other attempt. Made once; stores nothing. */
export async function tryIntegration(context: NotifierContext, trial: IntegrationTried): Promise<void> {
  const startedAt = performance.now()
  const client = recordStatus(context.http)
  const outcome = await send(context, trial, client.http)
  const durationMs = Math.round(performance.now() - startedAt)
  context.metrics.notifications.inc({ kind: webhook.kind, outcome: outcome.result })
  context.log.info({ trialId: trial.trialId, outcome: outcome.result, durationMs }, 'integration.tried')
  const error = outcome.result === 'delivered' ? '' : outcome.error
  const result: TrialResult = { status: client.status(), error, durationMs }
  context.broker.send({
    exchange: '',
    routingKey: trial.replyTo,
    body: Buffer.from(JSON.stringify(result)),
    correlationId: trial.trialId,
  })
}

async function send(
  context: NotifierContext,
  trial: IntegrationTried,
  http: Pick<HttpClient, 'request'>,
): Promise<Outcome> {
  const { kind } = webhook
  const parsed = webhook.parse(decryptConfig(context, { kind, sealedConfig: trial.sealedConfig }))
  if (!parsed.ok) return INTERNAL_ERROR
  const slot = await acquireSlot(context, { kind, projectId: trial.projectId }, parsed.config)
  if ('retryInMs' in slot) return TOO_LATE
  try {
    if (context.now() > trial.beginBy) return TOO_LATE
    return await sendWebhook({ http, now: Date.now }, parsed.config, trialNotification(context, trial))
  } catch (error) {
    context.log.error({ trialId: trial.trialId, ...describeError(error) }, 'transport.failed')
    return INTERNAL_ERROR
  } finally {
    slot.release()
  }
}

function recordStatus(http: Pick<HttpClient, 'request'>): {
  http: Pick<HttpClient, 'request'>
  status(): number | null
} {
  let status: number | null = null
  return {
    http: {
      async request(options) {
        const response = await http.request(options)
        status = response.status
        return response
      },
    },
    status: () => status,
  }
}
