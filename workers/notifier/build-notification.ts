import { RULE_BITS } from '#shared/monitoring/checks/rule-bits.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { BEGIN } from '#shared/monitoring/checks/state-machine.ts'
import { type AssignedCheck, findChecks } from '#shared/monitoring/checks/store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { toCheckView } from '#shared/monitoring/checks/view.ts'
import { webhook } from '#shared/monitoring/integrations/kinds/webhook.ts'
import type { Claim } from '#shared/monitoring/notifications/attempt-store.ts'
import { incidentLinkPath, signedOfIncidentLink } from '#shared/monitoring/notifications/incident-link.ts'
import type { AlertLinks, Notification, NotifiedPing, Summary } from '#shared/monitoring/notifications/notification.ts'
import {
  type FlipForSending,
  flipsForSending,
  type IncidentForSending,
  type IntegrationForSending,
  incidentsForSending,
  lastPingsUntil,
} from '#shared/monitoring/notifications/sending-store.ts'
import { countChildren, type Depended } from '#shared/monitoring/rules/parent-store.ts'
import { quorumText } from '#shared/monitoring/rules/quorum.ts'
import { findFacts } from '#shared/monitoring/rules/rule-state-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { batched } from '#shared/platform/process/batch.ts'
import type { Micros } from '#shared/time.ts'
import type { NotifierDeps } from './notifier-deps.ts'
import { readerOf } from './reader.ts'

const NO_UUID = '00000000-0000-4000-8000-000000000000'

/** Rows that one statement reads for messages that are built side by side; each ping may bring a body. */
const BATCH = { largest: 100, start: setImmediate }

type BuildDeps = Pick<NotifierDeps, 'db' | 'config' | 'secrets' | 'now' | 'log'>

/** Builds messages; the function returns null when the check was deleted meanwhile. */
export function createBuild(deps: BuildDeps): (claim: Claim) => Promise<Notification | null> {
  const { db } = deps
  const flipOf = batched((ids: readonly number[]) => flipsForSending(db, ids), BATCH)
  const incidentOf = batched((ids: readonly string[]) => incidentsForSending(db, ids), BATCH)
  const checkOf = batched((ids: readonly number[]) => findChecks(db, ids), BATCH)
  const childrenOf = batched((requested: readonly Depended[]) => countChildren(db, requested), BATCH)
  const quorumOf = batched(async (ids: readonly number[]) => {
    const facts = await findFacts(db, ids)
    return ids.map((id) => facts.get(id)?.sources ?? null)
  }, BATCH)
  const pingUntil = batched(
    (requested: readonly { checkId: number; until: Micros }[]) => lastPingsUntil(db, requested),
    BATCH,
  )

  return async ({ claimed, channel }) => {
    const { flipId, checkId, incidentId, what, summary } = claimed
    if (summary) return summaryNotification(deps, { claimed, channel }, summary)
    if (what === 'test' || checkId === null) {
      return notificationOf(deps, { claimed, channel }, testSubject(deps, claimed.status))
    }
    const [flip, incident, check] = await Promise.all([
      flipId === null ? null : flipOf(flipId),
      flipId !== null || incidentId === null ? null : incidentOf(incidentId),
      checkOf(checkId),
    ])
    const notified = flip ?? (incident && flipOfIncident(incident, claimed.status))
    if (!notified || !check) return null
    const isDown = claimed.status === 'down'
    const [lastPing, dependents, quorum] = await Promise.all([
      pingUntil({ checkId, until: notified.at }),
      isDown ? childrenOf({ ...check, tags: splitTags(check.tags) }) : 0,
      isDown && ((check.ruleBits ?? 0) & RULE_BITS.sources) !== 0 ? quorumOf(checkId) : null,
    ])
    const about = { flip: notified, check, lastPing, incident, dependents }
    const notification = {
      ...notificationOf(deps, { claimed, channel }, about),
      ...(quorum && { sources: quorumText(check, quorum, deps.now(), nextOccurrence) }),
    }
    const reader = await readerOf(deps, channel)
    if (!reader) return notification
    return { ...notification, overview: reader.overview, timeZone: reader.timeZone ?? notification.timeZone }
  }
}

/** A message about several checks stands for itself: it is sent as it was made. */
function summaryNotification(deps: BuildDeps, claim: Claim, summary: Summary): Notification {
  const subject = { ...testSubject(deps, claim.claimed.status), check: testCheck(summary.title) }
  const notification = notificationOf(deps, claim, subject)
  return { ...notification, reason: '', urls: { ...notification.urls, check: summary.link }, summary }
}

/** The test message of a webhook that is not stored: there is no page of it yet, and no row that could be its claim. */
export function trialNotification(
  deps: Omit<BuildDeps, 'db'>,
  { trialId, status }: { trialId: string; status: 'up' | 'down' },
): Notification {
  const claimed = { id: trialId, status, what: 'test', incidentId: null, detail: null } as const
  const channel = { uuid: NO_UUID, kind: webhook.kind, name: '', isEmailVerified: true, projectName: '' }
  return notificationOf(deps, { claimed, channel }, testSubject(deps, status))
}

/** What a message is about. */
interface Subject {
  flip: FlipForSending
  check: AssignedCheck
  lastPing: NotifiedPing | null
  incident: IncidentForSending | null
  /** checks that depend on it */
  dependents: number
}

function testSubject({ config, now }: Pick<BuildDeps, 'config' | 'now'>, status: 'up' | 'down'): Subject {
  const flip = { at: now(), reason: status === 'down' ? 'timeout' : '', checkId: 0, downSince: null } as const
  return { flip, check: testCheck(`Test from ${config.siteName}`), lastPing: null, incident: null, dependents: 0 }
}

function flipOfIncident({ checkId, downAt, upAt, reason }: IncidentForSending, status: 'up' | 'down'): FlipForSending {
  if (status === 'down') return { at: downAt, reason, checkId, downSince: null }
  return { at: upAt ?? downAt, reason: '', checkId, downSince: downAt }
}

/** What a message tells of the row that it is the attempt of, and of its integration. */
interface Told {
  claimed: Pick<Claim['claimed'], 'id' | 'status' | 'what' | 'incidentId' | 'detail'>
  channel: Pick<IntegrationForSending, 'uuid' | 'kind' | 'name' | 'isEmailVerified' | 'projectName'>
}

function notificationOf(
  deps: Omit<BuildDeps, 'db'>,
  { claimed, channel }: Told,
  { flip, check, lastPing, incident, dependents }: Subject,
): Notification {
  const now = deps.now()
  const site = deps.config.publicUrl
  const view = toCheckView(check, { base: site, version: 3, readOnly: false, now, next: nextOccurrence })
  const key = uniqueKey(check.uuid)
  return {
    id: claimed.id,
    status: claimed.status,
    reason: flip.reason,
    flipAt: flip.at,
    downFor: claimed.status === 'up' && flip.downSince !== null ? flip.at - flip.downSince : null,
    channel: { id: channel.uuid, name: channel.name, isEmailVerified: channel.isEmailVerified },
    check: { ...check, uniqueKey: key, json: JSON.stringify(view) },
    projectName: channel.projectName,
    lastPing,
    urls: {
      site,
      check: claimed.what === 'test' ? `${site}/integrations/${channel.uuid}` : `${site}/checks/${key}`,
      unsubscribe: channel.kind === 'email' ? unsubscribeUrl(deps, channel) : null,
    },
    timeZone: check.tz,
    overview: null,
    isTest: claimed.what === 'test',
    ...(dependents > 0 && { dependents }),
    ...(incident && { alert: positionOf(deps, { claimed, channel }, incident) }),
  }
}

function positionOf(
  { config, secrets, now }: Pick<BuildDeps, 'config' | 'secrets' | 'now'>,
  { claimed, channel }: Told,
  incident: IncidentForSending,
): AlertLinks {
  const { incidentId, what, detail } = claimed
  const id = incidentId ?? NO_UUID
  const { publicUrl } = config
  return {
    incidentId: id,
    what: what === 'repeat' || what === 'recovery' || what === 'flapping' ? what : 'first',
    severity: incident.severity,
    downAt: incident.downAt,
    step: detail ? detail.step + 1 : null,
    repeat: detail?.repeat ?? 0,
    url: `${publicUrl}/incidents/${id}`,
    ackUrl: publicUrl + incidentLinkPath(id, channel.uuid, secrets.digest(signedOfIncidentLink(id, channel.uuid))),
    lateBy: detail ? now() - detail.dueAt : 0,
    lateReason: detail?.reason ?? '',
    heldBy: detail?.name ?? '',
  }
}

/** Whoever holds the link may end the mails, without signing in; so it is signed. */
export function unsubscribeUrl(
  { config, secrets }: Pick<NotifierDeps, 'config' | 'secrets'>,
  channel: Pick<IntegrationForSending, 'uuid'>,
): string {
  const signature = secrets.digest(`unsubscribe:${channel.uuid}`).toString('base64url')
  return `${config.publicUrl}/integrations/${channel.uuid}/unsubscribe/${signature}`
}

/** What a test message is about: no check of the project, so that nobody mistakes it for an outage. */
function testCheck(name: string): AssignedCheck {
  return {
    ...DEFAULT_SETTINGS,
    id: 0,
    uuid: NO_UUID,
    projectId: 0,
    name,
    badgeKey: NO_UUID,
    integrationIds: [],
    ...BEGIN,
    status: 'down',
  }
}
