import { webhook } from '#shared/monitoring/channels/kinds/webhook.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import { fillTemplate, type PlaceholderValues } from '#shared/monitoring/notifications/placeholders.ts'
import { toIsoSeconds } from '#shared/time.ts'
import { deliver } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

/** Tells a receiver that it has this message already: the id stays the same at every attempt. */
const notificationHeader = 'x-signalbox-notification'
/** Which outage a message under a policy is about. */
const incidentHeader = 'x-signalbox-incident'

export const webhookTransport = defineTransport(webhook, async ({ http, now }, config, notification) => {
  const isUp = notification.status === 'up'
  const template = isUp ? config.url_up : config.url_down
  const method = isUp ? config.method_up : config.method_down
  const body = isUp ? config.body_up : config.body_down
  const values = placeholderValues(notification)
  const headers = Object.entries(isUp ? config.headers_up : config.headers_down)
  return deliver(http, now, {
    method,
    url: fillTemplate(template, values, 'url'),
    headers: {
      ...(method !== 'GET' && body !== '' && { 'content-type': contentType(body) }),
      ...Object.fromEntries(
        headers.map(([name, value]) => [name.toLowerCase(), printable(fillTemplate(value, values, 'header'))]),
      ),
      [notificationHeader]: notification.id,
      ...(notification.alert && { [incidentHeader]: notification.alert.incidentId }),
    },
    ...(method !== 'GET' && { body: Buffer.from(fillTemplate(body, values, 'body'), 'utf8') }),
  })
})

/** Names may hold characters that no header can carry. */
function printable(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  return value.replace(/[\u0000-\u0008\u000a-\u001f\u007f]+/g, ' ')
}

/** Unless the owner names another: most receivers read nothing without a type. */
function contentType(template: string): string {
  return /^\s*[[{]/.test(template) ? 'application/json' : 'text/plain; charset=utf-8'
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

/** A message about one check under a policy is a group of one. */
function groupOf({ summary, alert, check, status }: Notification): PlaceholderValues['group'] {
  if (summary) return summary.group
  if (!alert) return undefined
  const { incidentId: incident, severity } = alert
  return { count: 1, members: [{ check: check.uuid, name: check.name, incident, severity, status }] }
}
