import { permanent } from '#shared/delivery/outcome.ts'
import { po } from '#shared/monitoring/integrations/kinds/po.ts'
import { htmlText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { answeredObject, deliver, form } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

/** An emergency message repeats this often, for this long, or until somebody confirms it; in seconds. */
const retrySeconds = 300
const expireSeconds = 86_400

/** Pushover. A recovery first ends the repetitions of the emergency that it answers. */
export const poTransport = defineTransport(po, async ({ http, now }, config, notification) => {
  const { check, status, urls } = notification
  const priority = status === 'up' ? config.priority_up : config.priority
  if (status === 'up' && config.priority === 2) {
    const cancelUrl = `${config.base_url}/1/receipts/cancel_by_tag/${check.uniqueKey}.json`
    // Whether or not there was something to end, the recovery is reported.
    await deliver(http, now, form(cancelUrl, { token: config.token }))
  }
  const message = fitted('po', notification, (shown) => ({
    token: config.token,
    user: config.user_key,
    title: titleOf(shown),
    message: htmlText(shown, '\n'),
    html: '1',
    priority: String(priority),
    tags: check.uniqueKey,
    url: urls.check,
    url_title: 'Open the check',
    ...(priority === 2 && { retry: String(retrySeconds), expire: String(expireSeconds) }),
  }))
  return deliver(http, now, form(`${config.base_url}/1/messages.json`, message), (answer) => {
    const isUnknownUser = answer.status === 400 && answeredObject(answer).user === 'invalid'
    return isUnknownUser ? permanent('Received status code 400 (invalid user)', { failure: 'refused' }) : null
  })
})
