import { quotedBody } from './message.ts'
import { exceededLimits, type LimitedKind } from './message-limits.ts'
import type { Notification, Summary } from './notification.ts'
import { listText } from './text-parts.ts'

const QUOTED = [500, 200]

/**
 * Omits parts before rendering, so that the markup stays valid: the ping's body, then the facts, then the reason; in
 * a list, names from its end.
 */
export function fitted<Request>(
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

/** Assumes that all smaller numbers pass; 0 if none does. */
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
  return { ...summary, list, text: listText(list, summary.link) }
}

function* shorterForms(notification: Notification): Generator<Notification> {
  const { lastPing } = notification
  const quoted = quotedBody(notification)
  for (const length of QUOTED) {
    if (!lastPing || quoted.length <= length) continue
    const body = Buffer.from(`${quoted.slice(0, length).toWellFormed()}\n[truncated]`)
    yield { ...notification, lastPing: { ...lastPing, body } }
  }
  const bodyless = { ...notification, lastPing: lastPing && { ...lastPing, body: null } }
  yield bodyless
  yield { ...bodyless, brevity: 'alert-facts' }
  yield { ...bodyless, brevity: 'title' }
}
