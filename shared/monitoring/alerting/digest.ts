import type { Summary } from '../notifications/notification.ts'
import { listText, namedList } from '../notifications/text-parts.ts'
import type { Decision } from './incident.ts'

/** An incident that a digest names. */
export interface DigestMember {
  /** uuid */
  check: string
  name: string
  /** uuid */
  incident: string
  severity: string
}

/** What one integration is told of many incidents at once. */
export interface Digest {
  status: 'up' | 'down'
  size: number
  /** the worst first; may be fewer than `size` */
  members: readonly DigestMember[]
  /** most of what was expected is silent, and nothing pinged */
  isSuspicious: boolean
}

/** The message of a digest. @param link the page that lists them all */
export function digestOf({ status, size, members, isSuspicious }: Digest, link: string): Summary {
  const suspicion = isSuspicious ? ' Perhaps the way to this service is broken.' : ''
  const list = namedList({
    before: '',
    names: members.map(({ name, check }) => name || check),
    size,
    after: `.${suspicion}`,
  })
  return {
    title: `${size} ${size === 1 ? 'check is' : 'checks are'} ${status.toUpperCase()}`,
    text: listText(list, link),
    list,
    facts: [],
    link,
    group: { count: size, members: members.map((member) => ({ ...member, status })) },
  }
}

/** Recoveries of the checks of a digest are gathered for so long after the first. */
export const GATHERED_SECONDS = 30

/**
 * What is said of a decision some of whose messages became part of a digest.
 * @param uuids integrations whose message did
 * @param isWhole every message did
 */
export function inDigest(decision: Decision | null, uuids: ReadonlySet<string>, isWhole: boolean): Decision | null {
  if (!decision || uuids.size === 0) return decision
  const channels = decision.channels.map((channel) =>
    uuids.has(channel.id) && channel.outcome === 'notified' ? { ...channel, reason: 'IN_DIGEST' as const } : channel,
  )
  const isOutageNotified = decision.outcome === 'notified' && decision.reason !== 'RECOVERY'
  return { ...decision, ...(isWhole && isOutageNotified && { reason: 'IN_DIGEST' as const }), channels }
}
