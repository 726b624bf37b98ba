import { quotedBody } from './message.ts'
import { exceededLimits, type LimitedKind } from './message-limits.ts'
import type { Notification, Summary } from './notification.ts'
import { listLinkOf, listText } from './text-parts.ts'

/** Lengths to which the body of the ping is shortened. */
const BODY_LENGTHS = [500, 200]

/**
 * Renders the longest form of a notification that the service accepts. Parts are omitted before rendering, so that the
 * markup remains valid: first the body of the ping, then the facts, then the reason; from a digest, names at its end.
 * @param render is called once per form; the last form is returned even if it is too long
 */
export function fitToLimits<Request>(
  kind: LimitedKind,
  notification: Notification,
  render: (notification: Notification) => Request,
): Request {
  const fits = (request: Request) => exceededLimits(kind, request).length === 0
  let request = render(notification)
  if (fits(request)) return request
  const { summary } = notification
  if (summary) {
    const rendered = (named: number) => render({ ...notification, summary: withNames(summary, named) })
    return rendered(largestCount((named) => fits(rendered(named)), summary.list.names.length))
  }
  for (const shorter of shorterForms(notification)) {
    request = render(shorter)
    if (fits(request)) return request
  }
  return request
}

/** Returns the largest count below `limit` that passes, or 0. Assumes that all smaller counts pass too. */
function largestCount(passes: (count: number) => boolean, limit: number): number {
  let [least, above] = [0, limit]
  while (above - least > 1) {
    const middle = Math.floor((least + above) / 2)
    if (passes(middle)) least = middle
    else above = middle
  }
  return least
}

function withNames(summary: Summary, named: number): Summary {
  const list = { ...summary.list, names: summary.list.names.slice(0, named) }
  return { ...summary, list, text: listText(list, listLinkOf(summary)) }
}

function* shorterForms(notification: Notification): Generator<Notification> {
  const { lastPing } = notification
  const quoted = quotedBody(notification)
  for (const length of BODY_LENGTHS) {
    if (!lastPing || quoted.length <= length) continue
    const body = Buffer.from(`${quoted.slice(0, length).toWellFormed()}\n[truncated]`)
    yield { ...notification, lastPing: { ...lastPing, body } }
  }
  const bodyless = { ...notification, lastPing: lastPing && { ...lastPing, body: null } }
  yield bodyless
  yield { ...bodyless, brevity: 'alert-facts' }
  yield { ...bodyless, brevity: 'title' }
}
