import type { Outcome } from '#shared/delivery/outcome.ts'
import { type WebhookConfig, webhook } from '#shared/monitoring/integrations/kinds/webhook.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import type { PlaceholderValues } from '#shared/monitoring/notifications/placeholders.ts'
import { webhookRequest } from '#shared/monitoring/notifications/webhook-request.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'
import { toIsoSeconds } from '#shared/time.ts'
import { deliver } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

/** The id is the same at every attempt, so that receivers can drop duplicates. */
const notificationHeader = 'x-signalbox-notification'
const incidentHeader = 'x-signalbox-incident'

export const webhookTransport = defineTransport(webhook, sendWebhook)

export async function sendWebhook(
  { http, now }: { http: Pick<HttpClient, 'request'>; now(): number },
  config: WebhookConfig,
  notification: Notification,
): Promise<Outcome> {
  const { method, url, headers, body } = webhookRequest(config, placeholderValues(notification))
  return deliver(http, now, {
    method,
    url,
    headers: {
      ...headers,
      [notificationHeader]: notification.id,
      ...(notification.alert && { [incidentHeader]: notification.alert.incidentId }),
    },
    ...(body !== null && { body: Buffer.from(body, 'utf8') }),
  })
}

function placeholderValues(notification: Notification): PlaceholderValues {
  const { status, flipAt, check, lastPing, alert } = notification
  const group = groupOf(notification)
  return {
    uuid: check.uuid,
    status,
    now: toIsoSeconds(flipAt),
    name: check.name,
    slug: check.slug,
    tags: check.tags,
    checkJson: check.json,
    body: lastPing?.body?.toString('utf8') ?? null,
    exitStatus: lastPing?.exitStatus ?? null,
    ...(alert && { alert }),
    ...(group && { group }),
  }
}

/** A notification about one check under a policy is a group of one. */
function groupOf({ summary, alert, check, status }: Notification): PlaceholderValues['group'] {
  if (summary) return summary.group && { ...summary.group, ...(summary.ackUrl && { ackUrl: summary.ackUrl }) }
  if (!alert) return undefined
  const { incidentId: incident, severity } = alert
  return { count: 1, members: [{ check: check.uuid, name: check.name, incident, severity, status }] }
}
