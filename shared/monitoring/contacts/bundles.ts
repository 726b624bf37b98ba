import { type Micros, microsOfSeconds } from '../../time.ts'
import type { ContactKind } from './contact-kinds.ts'

const SLOW_KINDS: ReadonlySet<string> = new Set<ContactKind>(['sms', 'whatsapp', 'call'])

/** Time after a message in which further ones to the same method are collected. */
export function bundleWindow(kind: ContactKind): Micros {
  return microsOfSeconds(SLOW_KINDS.has(kind) ? 60 : 15)
}

/** A notification to one contact method that is not sent yet. */
export interface PendingNotification {
  id: string
  dueAt: Micros
}

export interface MessageBundle {
  at: Micros
  /** in the order in which they fell due */
  ids: readonly string[]
}

/**
 * Returns the next message to a method: the first goes at once, further ones together at the end of the window after the
 * last message. Null without pending notifications.
 */
export function nextBundle(
  kind: ContactKind,
  lastSentAt: Micros | null,
  pending: readonly PendingNotification[],
): MessageBundle | null {
  const [first, ...rest] = pending.toSorted((a, b) => a.dueAt - b.dueAt)
  if (!first) return null
  const at = lastSentAt === null ? first.dueAt : Math.max(first.dueAt, lastSentAt + bundleWindow(kind))
  return { at, ids: [first, ...rest.filter(({ dueAt }) => dueAt <= at)].map(({ id }) => id) }
}

/** Returns all messages for notifications that are known in advance. */
export function planBundles(
  kind: ContactKind,
  lastSentAt: Micros | null,
  notifications: readonly PendingNotification[],
): MessageBundle[] {
  const bundles: MessageBundle[] = []
  let pending = notifications
  let last = lastSentAt
  for (;;) {
    const bundle = nextBundle(kind, last, pending)
    if (!bundle) return bundles
    bundles.push(bundle)
    last = bundle.at
    const sent = new Set(bundle.ids)
    pending = pending.filter(({ id }) => !sent.has(id))
  }
}
