import { nextNotification } from '#shared/monitoring/alerting/next-notification.ts'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { RULE_BITS } from '#shared/monitoring/checks/rule-bits.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { listShownChecks } from '#shared/monitoring/checks/shown-store.ts'
import { nameOf, uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { BEGIN } from '#shared/monitoring/checks/state-machine.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import type { AssignedCheck } from '#shared/monitoring/checks/store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { toCheckView } from '#shared/monitoring/checks/view.ts'
import { personLabel } from '#shared/monitoring/contacts/person-label.ts'
import { email } from '#shared/monitoring/integrations/kinds/other.ts'
import { webhook } from '#shared/monitoring/integrations/kinds/webhook.ts'
import { ackLinkOf } from '#shared/monitoring/notifications/ack-link.ts'
import { recipientText } from '#shared/monitoring/notifications/alert-texts.ts'
import type { AlertLinks, Notification, NotifiedPing, Summary } from '#shared/monitoring/notifications/notification.ts'
import type {
  FlipForSending,
  IncidentForSending,
  IntegrationForSending,
} from '#shared/monitoring/notifications/sending-store.ts'
import { listText, shortName } from '#shared/monitoring/notifications/text-parts.ts'
import { findReader } from '#shared/monitoring/reports/report-store.ts'
import { quorumText } from '#shared/monitoring/rules/quorum.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Claim, decryptConfig, type NotifierContext } from './context.ts'

export const PLACEHOLDER_UUID = '00000000-0000-4000-8000-000000000000'

/** Maximum number of checks in the overview. */
const MAX_LINES = 200
const STATUS_ORDER: readonly ShownStatus[] = ['down', 'grace', 'up', 'new', 'paused']

type SiteContext = Pick<NotifierContext, 'config' | 'secrets' | 'now'>

export async function buildNotification(context: NotifierContext, claim: Claim): Promise<Notification | null> {
  const notification = await incidentNotification(context, claim)
  if (!notification || notification.isTest || notification.summary) return notification
  const member = await memberDetails(context, claim.integration)
  if (!member) return notification
  return { ...notification, overview: member.overview, timeZone: member.timeZone ?? notification.timeZone }
}

/** Returns the notification without details that depend on the integration. */
export async function incidentNotification(context: NotifierContext, claim: Claim): Promise<Notification | null> {
  const { claimed } = claim
  const { flipId, checkId, incidentId, what, summary } = claimed
  if (summary) return summaryNotification(context, claim, summary)
  if (what === 'test' || checkId === null)
    return notificationOf(context, claim, placeholderSubject(context, claimed.status))
  const { statements } = context
  const [ownFlip, incident, check] = await Promise.all([
    flipId === null ? null : statements.findFlip(flipId),
    flipId !== null || incidentId === null ? null : statements.findIncident(incidentId),
    statements.findCheck(checkId),
  ])
  const flip = ownFlip ?? (incident && flipOfIncident(incident, claimed.status))
  if (!flip || !check) return null
  if (what === 'ack' && incident) return summaryNotification(context, claim, ackSummary(context, claim, incident))
  const isDown = claimed.status === 'down'
  const hasSources = ((check.ruleBits ?? 0) & RULE_BITS.sources) !== 0
  const [lastPing, dependents, sources] = await Promise.all([
    statements.findLastPing({ checkId, until: flip.at }),
    isDown ? statements.countChildren({ ...check, tags: splitTags(check.tags) }) : 0,
    isDown && hasSources ? statements.findSources(checkId) : null,
  ])
  return {
    ...notificationOf(context, claim, { flip, check, lastPing, incident, dependents }),
    ...(sources && { sources: quorumText(check, sources, context.now(), nextOccurrence) }),
  }
}

/** `ACK | db-backup: acknowledged by Anna (SMS)` */
function ackSummary(
  { config }: SiteContext,
  { claimed }: Claim,
  { name, ackBy, ackVia, ackName }: IncidentForSending,
): Summary {
  const by = personLabel(ackBy, ackVia, ackName).replace(/^through /, '')
  const title = `ACK | ${shortName(name)}: acknowledged ${ackVia === 'link' ? 'via' : 'by'} ${by}`
  const names = ['No further notifications are sent while it is acknowledged']
  const list = { before: '', names, size: 1, after: '.' }
  const link = `${config.publicUrl}/incidents/${claimed.incidentId ?? PLACEHOLDER_UUID}`
  return { title, text: listText(list, null), facts: [], list, link, linkText: 'Open the incident' }
}

/** Null unless the recipient is known to be a member: only members get the state of all checks. */
async function memberDetails(
  context: NotifierContext,
  integration: IntegrationForSending,
): Promise<(Pick<Notification, 'overview'> & { timeZone: string | null }) | null> {
  if (integration.kind !== email.kind || !integration.isEmailVerified) return null
  const parsed = email.parse(decryptConfig(context, integration))
  const reader = parsed.ok ? await findReader(context.db, integration.projectId, parsed.config.value) : null
  if (!reader) return null
  const now = context.now()
  const lines = (await listShownChecks(context.db, integration.projectId)).map((check) => ({
    label: nameOf(check),
    status: shownStatus(check, now, nextOccurrence),
    lastPingAt: check.lastPing,
  }))
  const ordered = lines.sort((a, b) => STATUS_ORDER.indexOf(a.status) - STATUS_ORDER.indexOf(b.status))
  return { overview: ordered.slice(0, MAX_LINES), timeZone: reader.tz }
}

function summaryNotification(context: SiteContext, claim: Claim, summary: Summary): Notification {
  const subject = { ...placeholderSubject(context, claim.claimed.status), check: placeholderCheck(summary.title) }
  const notification = notificationOf(context, claim, subject)
  const urls = { ...notification.urls, check: summary.link }
  const link = claim.claimed.what === 'digest' && { ackUrl: ackUrlOf(context, claim.claimed.id) }
  return { ...notification, reason: '', urls, summary: { ...summary, ...link } }
}

/** Returns a message to a contact method of a person that is not about one stored notification. */
export function summaryWithoutRow(
  context: SiteContext,
  { id, summary, status = 'up' }: { id: string; summary: Summary; status?: 'up' | 'down' },
): Notification {
  const trial = trialNotification(context, { trialId: id, status })
  return { ...trial, isTest: false, urls: { ...trial.urls, check: summary.link }, summary }
}

/** Returns the message for trying a webhook before it is saved: there is no integration and no stored notification. */
export function trialNotification(
  context: SiteContext,
  { trialId, status }: { trialId: string; status: 'up' | 'down' },
): Notification {
  const claimed = { id: trialId, status, what: 'test', incidentId: null, detail: null, methodId: null } as const
  const integration = { uuid: PLACEHOLDER_UUID, kind: webhook.kind, name: '', isEmailVerified: true, projectName: '' }
  return notificationOf(context, { claimed, integration }, placeholderSubject(context, status))
}

interface Subject {
  flip: FlipForSending
  check: AssignedCheck
  lastPing: NotifiedPing | null
  incident: IncidentForSending | null
  dependents: number
}

function placeholderSubject({ config, now }: SiteContext, status: 'up' | 'down'): Subject {
  const flip = { at: now(), reason: status === 'down' ? 'timeout' : '', checkId: 0, downSince: null } as const
  return {
    flip,
    check: placeholderCheck(`Test from ${config.siteName}`),
    lastPing: null,
    incident: null,
    dependents: 0,
  }
}

function flipOfIncident({ checkId, downAt, upAt, reason }: IncidentForSending, status: 'up' | 'down'): FlipForSending {
  if (status === 'down') return { at: downAt, reason, checkId, downSince: null }
  return { at: upAt ?? downAt, reason: '', checkId, downSince: downAt }
}

interface Delivery {
  claimed: Pick<Claim['claimed'], 'id' | 'status' | 'what' | 'incidentId' | 'detail' | 'methodId'>
  integration: Pick<IntegrationForSending, 'uuid' | 'kind' | 'name' | 'isEmailVerified' | 'projectName'>
}

function notificationOf(
  context: SiteContext,
  { claimed, integration }: Delivery,
  { flip, check, lastPing, incident, dependents }: Subject,
): Notification {
  const now = context.now()
  const site = context.config.publicUrl
  const view = toCheckView(check, { base: site, version: 3, readOnly: false, now, next: nextOccurrence })
  const key = uniqueKey(check.uuid)
  return {
    id: claimed.id,
    status: claimed.status,
    reason: flip.reason,
    flipAt: flip.at,
    downFor: claimed.status === 'up' && flip.downSince !== null ? flip.at - flip.downSince : null,
    integration: { id: integration.uuid, name: integration.name, isEmailVerified: integration.isEmailVerified },
    check: { ...check, uniqueKey: key, json: JSON.stringify(view) },
    projectName: integration.projectName,
    lastPing,
    urls: {
      site,
      check: claimed.what === 'test' ? `${site}/integrations/${integration.uuid}` : `${site}/checks/${key}`,
      unsubscribe: integration.kind === 'email' ? unsubscribeUrl(context, integration) : null,
    },
    timeZone: check.tz,
    overview: null,
    isTest: claimed.what === 'test',
    ...(dependents > 0 && { dependents }),
    ...(incident && { alert: alertLinks(context, { claimed, integration }, incident) }),
  }
}

function alertLinks(context: SiteContext, { claimed }: Delivery, incident: IncidentForSending): AlertLinks {
  const { incidentId, what, detail, methodId } = claimed
  const id = incidentId ?? PLACEHOLDER_UUID
  const { config, now } = context
  const step = detail && detail.reason !== 'REASSIGNED' ? detail.step + 1 : null
  const next = nextNotification(incident, incident.plan ?? IMPLICIT_PLAN)
  return {
    incidentId: id,
    what: what === 'repeat' || what === 'recovery' || what === 'flapping' ? what : 'first',
    severity: incident.severity,
    downAt: incident.downAt,
    step,
    steps: incident.plan?.steps.length ?? null,
    nextIn: next && next.at > now() ? next.at - now() : null,
    recipientText: methodId == null || !detail ? '' : recipientText(detail, incident.policy),
    repeat: detail?.repeat ?? 0,
    url: `${config.publicUrl}/incidents/${id}`,
    ackUrl: ackUrlOf(context, claimed.id),
    downAgo: now() - incident.downAt,
    lateBy: detail ? now() - detail.dueAt : 0,
    lateReason: detail?.reason ?? '',
    suppressedBy: detail?.name ?? '',
  }
}

export function ackUrlOf({ config, secrets }: Pick<SiteContext, 'config' | 'secrets'>, notificationId: string): string {
  return config.publicUrl + ackLinkOf(notificationId, secrets.digest).path
}

/** Signed, because the link works without signing in. */
export function unsubscribeUrl(
  { config, secrets }: Pick<NotifierContext, 'config' | 'secrets'>,
  { uuid }: Pick<IntegrationForSending, 'uuid'>,
): string {
  const signature = secrets.digest(`unsubscribe:${uuid}`).toString('base64url')
  return `${config.publicUrl}/integrations/${uuid}/unsubscribe/${signature}`
}

/** A placeholder for messages that are not about one check: tests, summaries and digests. */
function placeholderCheck(name: string): AssignedCheck {
  return {
    ...DEFAULT_SETTINGS,
    id: 0,
    uuid: PLACEHOLDER_UUID,
    projectId: 0,
    name,
    badgeKey: PLACEHOLDER_UUID,
    integrationIds: [],
    ...BEGIN,
    status: 'down',
  }
}
