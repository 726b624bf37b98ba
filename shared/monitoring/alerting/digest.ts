import type { Summary } from '../notifications/notification.ts'
import { listText, namedList } from '../notifications/text-parts.ts'
import type { Decision } from './incident.ts'

export interface DigestMember {
  check: string
  name: string
  incident: string
  severity: string
}

export interface Digest {
  status: 'up' | 'down'
  size: number
  /** the most severe first; may be fewer than `size` */
  members: readonly DigestMember[]
  /** most expected checks are silent and no ping arrived (docs/spec/alerting.md#digests) */
  isSuspicious: boolean
}

export function digestOf({ status, size, members, isSuspicious }: Digest, link: string): Summary {
  const suspicion = isSuspicious ? ' The connection to this service may be broken.' : ''
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

export const GATHERED_SECONDS = 30

/** Sets IN_DIGEST where notifications joined a digest. `isWhole` is true if every notification joined. */
export function inDigest(decision: Decision | null, uuids: ReadonlySet<string>, isWhole: boolean): Decision | null {
  if (!decision || uuids.size === 0) return decision
  const integrations = decision.channels.map((integration) =>
    uuids.has(integration.id) && integration.outcome === 'notified'
      ? { ...integration, reason: 'IN_DIGEST' as const }
      : integration,
  )
  const isOutageNotified = decision.outcome === 'notified' && decision.reason !== 'RECOVERY'
  return { ...decision, ...(isWhole && isOutageNotified && { reason: 'IN_DIGEST' as const }), channels: integrations }
}
