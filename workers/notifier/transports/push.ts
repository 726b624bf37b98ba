import { permanent, temporary } from '#shared/delivery/outcome.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { apprise, gotify, ntfy, po, pushbullet } from '#shared/monitoring/integrations/kinds/push.ts'
import { ackUrlOf } from '#shared/monitoring/notifications/alert-texts.ts'
import { htmlText, markdownText, plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitToLimits } from '#shared/monitoring/notifications/fit-to-limits.ts'
import { linkTextOf, titleOf } from '#shared/monitoring/notifications/message.ts'
import { answeredObject, deliver, form, json } from './http-delivery.ts'
import { defineTransport, type Transport } from './transport.ts'

/** An emergency message repeats until a user confirms it. */
const retrySeconds = 300
const expireSeconds = 86_400

/** A recovery first cancels the repetition of its emergency message. */
const poTransport = defineTransport(po, async ({ http, now }, config, notification) => {
  const { check, status, urls } = notification
  const ackUrl = ackUrlOf(notification)
  const priority = status === 'up' ? config.priority_up : config.priority
  if (status === 'up' && config.priority === 2) {
    const cancelUrl = `${config.base_url}/1/receipts/cancel_by_tag/${check.uniqueKey}.json`
    // The recovery is sent even if there was nothing to cancel.
    await deliver(http, now, form(cancelUrl, { token: config.token }))
  }
  const message = fitToLimits('po', notification, (fitted) => ({
    token: config.token,
    user: config.user_key,
    title: titleOf(fitted),
    message: htmlText(fitted, '\n', true),
    html: '1',
    priority: String(priority),
    tags: check.uniqueKey,
    url: ackUrl ?? urls.check,
    url_title: ackUrl === null ? 'Open the check' : 'Acknowledge',
    ...(priority === 2 && { retry: String(retrySeconds), expire: String(expireSeconds) }),
  }))
  return deliver(http, now, form(`${config.base_url}/1/messages.json`, message), (answer) => {
    const isUnknownUser = answer.status === 400 && answeredObject(answer).user === 'invalid'
    return isUnknownUser ? permanent('Received status code 400 (invalid user)', { failure: 'refused' }) : null
  })
})

const pushbulletTransport = defineTransport(pushbullet, async ({ http, now }, config, notification) => {
  const note = fitToLimits('pushbullet', notification, (fitted) => ({
    type: 'note',
    title: titleOf(fitted),
    body: plainText(fitted),
    guid: fitted.id,
  }))
  return deliver(http, now, json('POST', `${config.base_url}/v2/pushes`, note, { 'access-token': config.access_token }))
})

const ntfyTransport = defineTransport(ntfy, async ({ http, now }, config, notification) => {
  const isUp = notification.status === 'up'
  const ackUrl = ackUrlOf(notification)
  const message = fitToLimits('ntfy', notification, (fitted) => ({
    topic: config.topic,
    priority: isUp ? config.priority_up : config.priority,
    title: titleOf(fitted),
    message: markdownText(fitted),
    markdown: true,
    // ntfy shows these tags as symbols.
    tags: [isUp ? 'green_circle' : 'red_circle', ...splitTags(notification.check.tags)],
    // Opened by a tap on the message.
    click: ackUrl ?? notification.alert?.url ?? notification.urls.check,
    actions: [
      {
        action: 'view',
        label: notification.summary ? linkTextOf(notification) : 'Open the check',
        url: notification.urls.check,
      },
      ...(ackUrl === null ? [] : [{ ...ACK_ACTION, url: ackUrl }]),
    ],
  }))
  const headers: Record<string, string> = config.token ? { authorization: `Bearer ${config.token}` } : {}
  return deliver(http, now, json('POST', config.url, message, headers))
})

/** The app sends the form of the page behind the link, so that one press acknowledges. */
const ACK_ACTION = {
  action: 'http',
  label: 'Acknowledge',
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: 'do=ack',
  clear: true,
}

const gotifyTransport = defineTransport(gotify, async ({ http, now }, config, notification) => {
  const priority = notification.status === 'up' ? config.priority_up : config.priority
  const ackUrl = ackUrlOf(notification)
  const message = fitToLimits('gotify', notification, (fitted) => ({
    title: titleOf(fitted),
    message: markdownText(fitted),
    ...(priority !== undefined && { priority }),
    extras: {
      'client::display': { contentType: 'text/markdown' },
      ...(ackUrl !== null && { 'client::notification': { click: { url: ackUrl } } }),
    },
  }))
  return deliver(http, now, json('POST', `${config.url}/message?token=${encodeURIComponent(config.token)}`, message))
})

/** See docs/spec/monitoring.md#integration-kinds. */
export const appriseTransport = defineTransport(
  apprise,
  async ({ gatewayHttp, now, settings }, config, notification) => {
    const { appriseUrl } = settings
    if (appriseUrl === null) {
      return temporary('Apprise notifications are not enabled', { failure: 'config', final: true })
    }
    const message = fitToLimits('apprise', notification, (fitted) => ({
      urls: config.value,
      title: titleOf(fitted),
      body: plainText(fitted),
      type: fitted.status === 'up' ? 'success' : 'failure',
    }))
    return deliver(gatewayHttp, now, json('POST', `${appriseUrl.replace(/\/+$/, '')}/notify/`, message))
  },
)

export const pushTransports: readonly Transport[] = [
  ntfyTransport,
  gotifyTransport,
  poTransport,
  pushbulletTransport,
  appriseTransport,
]
