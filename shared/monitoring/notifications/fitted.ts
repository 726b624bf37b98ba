import { quotedBody } from './message.ts'
import { exceededLimits, type LimitedKind } from './message-limits.ts'
import type { Notification, Summary } from './notification.ts'
import { listText } from './text-parts.ts'

/** Lengths of the ping's body that are tried before it is omitted. */
const QUOTED = [500, 200]

/**
 * Renders the longest form of a message that its service accepts. Parts are omitted before rendering, so that the markup
 * stays valid: the ping's body, then the facts, then the reason; in a list, names from its end.
 * @param render returns the request, or the part of it that `message-limits.ts` limits
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

/** Returns the largest number below `limit` that passes, if all smaller ones pass; 0 if none does. */
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
