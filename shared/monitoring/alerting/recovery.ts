import { type Micros, toSeconds } from '../../time.ts'
import type {
  AlertNotification,
  Decided,
  Decision,
  FactIntegration,
  Facts,
  Incident,
  IntegrationDecision,
  NewNotification,
  PersonalNotification,
  PersonDecision,
} from './incident.ts'
import type { SkippedReason } from './reasons.ts'

/** Entries that a person caused are later than each offset of a plan, which ends after 400 days. */
export const MANUAL_ENTRIES = 1_000_000_000

export function notifyDirectly(incident: Incident | null, facts: Facts, flip: NonNullable<Facts['flip']>): Decided {
  const wanted = facts.integrations.filter(
    ({ isOwn, isDisabled, ignores }) => isOwn && !isDisabled && !ignores[flip.to],
  )
  const notifications = wanted.map(
    ({ id }): NewNotification => ({
      integrationId: id,
      what: 'flip',
      status: flip.to,
      flipId: flip.id,
      entry: incident?.flips ?? 0,
      detail: null,
    }),
  )
  const notified = wanted.map(({ uuid }): IntegrationDecision => ({ id: uuid, outcome: 'notified', reason: 'DIRECT' }))
  const skipped = facts.integrations
    .filter((integration) => integration.isOwn && !wanted.includes(integration))
    .map(skippedOf(flip.to))
  const common = { detail: {}, until: null, channels: [...notified, ...skipped] }
  const decision: Decision =
    wanted.length > 0
      ? { outcome: 'notified', reason: 'DIRECT', ...common }
      : { outcome: 'none', reason: 'NO_INTEGRATIONS', ...common }
  return { incident, notifications, withdrawn: [], decision }
}

/** Notifies the check's own integrations again at the end of a snooze. */
export function remindDirectly(incident: Incident, facts: Facts, now: Micros): Decided {
  const own = facts.integrations.filter(({ isOwn }) => isOwn)
  const wanted = own.filter((integration) => refusalOf(integration, 'down') === null)
  const notifications = wanted.map(
    ({ id }): NewNotification => ({
      integrationId: id,
      what: 'repeat',
      status: 'down',
      flipId: null,
      entry: MANUAL_ENTRIES + Math.floor(toSeconds(now - incident.downAt)),
      detail: { step: 0, repeat: 1, reason: 'SNOOZE_ENDED', dueAt: now },
    }),
  )
  const notified = wanted.map(
    ({ uuid }): IntegrationDecision => ({ id: uuid, outcome: 'notified', reason: 'SNOOZE_ENDED' }),
  )
  const channels = [...notified, ...own.filter((one) => !wanted.includes(one)).map(skippedOf('down'))]
  const common = { detail: {}, until: null, channels }
  const decision: Decision =
    wanted.length > 0
      ? { outcome: 'notified', reason: 'SNOOZE_ENDED', ...common }
      : { outcome: 'none', reason: 'NO_INTEGRATIONS', ...common }
  return { incident, notifications, withdrawn: [], decision }
}

/** Recoveries of persons, and their notifications to withdraw. */
interface RecoveredPeople {
  personal: PersonalNotification[]
  withdrawn: string[]
  people: PersonDecision[]
}

/**
 * Each integration with an attempted down notification gets one recovery, regardless of suppressions and policy
 * changes. Unsent notifications are withdrawn. If the check was paused, only integrations that keep a record are
 * notified, so that it is closed.
 */
export function recover(
  draft: Incident,
  facts: Facts,
  { now, resolution, people }: { now: Micros; resolution: 'recovered' | 'paused'; people: RecoveredPeople },
): Decided {
  const wasWaiting = draft.alertAt === null
  Object.assign(draft, {
    state: 'resolved',
    resolution,
    resolvedAt: resolution === 'recovered' ? (draft.upAt ?? now) : now,
    suppression: null,
    evaluatedAt: now,
    nextAt: null,
    ack: null,
  } satisfies Partial<Incident>)
  const isPaused = resolution === 'paused'
  if (draft.isDirect) return { incident: draft, notifications: [], withdrawn: [], decision: null }
  const down = facts.notifications.filter(({ status, what }) => status === 'down' && what !== 'recovery')
  const attempted = new Set(down.filter(({ attempts }) => attempts > 0).map(({ integrationId }) => integrationId))
  const withdrawn = down.filter(isUnsent).map(({ id }) => id)
  const integrations: IntegrationDecision[] = []
  const notifications: NewNotification[] = []
  for (const integration of facts.integrations) {
    if (isPaused && !integration.keepsRecord) continue
    if (!attempted.has(integration.id) && (isPaused || attempted.size === 0)) continue
    const reason = attempted.has(integration.id) ? refusalOf(integration, 'up') : 'NOT_NOTIFIED_BEFORE'
    integrations.push(
      reason
        ? { id: integration.uuid, outcome: 'skipped', reason }
        : { id: integration.uuid, outcome: 'notified', reason: 'RECOVERY' },
    )
    if (reason) continue
    const { id: integrationId } = integration
    notifications.push({
      integrationId,
      what: 'recovery',
      status: 'up',
      flipId: null,
      entry: draft.flips,
      detail: null,
    })
  }
  const personal = isPaused ? [] : people.personal
  const common = { detail: {}, until: null, channels: integrations, people: isPaused ? [] : people.people }
  const decision: Decision =
    notifications.length + personal.length > 0
      ? { outcome: 'notified', reason: 'RECOVERY', ...common }
      : isPaused
        ? { outcome: 'none', reason: 'PAUSED', ...common }
        : wasWaiting || down.length + people.people.length === 0
          ? { outcome: 'none', reason: 'RECOVERED_FIRST', ...common }
          : { outcome: 'skipped', reason: 'NOT_NOTIFIED_BEFORE', ...common }
  return { incident: draft, notifications, withdrawn: [...withdrawn, ...people.withdrawn], decision, personal }
}

export function refusalOf(integration: FactIntegration, direction: 'up' | 'down'): SkippedReason | null {
  if (integration.isDisabled) return 'INTEGRATION_DISABLED'
  return integration.ignores[direction] ? 'INTEGRATION_IGNORES' : null
}

export function isUnsent({ state, attempts }: Pick<AlertNotification, 'state' | 'attempts'>): boolean {
  return state === 'pending' && attempts === 0
}

function skippedOf(direction: 'up' | 'down') {
  return (integration: FactIntegration): IntegrationDecision => ({
    id: integration.uuid,
    outcome: 'skipped',
    reason: refusalOf(integration, direction) ?? 'INTEGRATION_IGNORES',
  })
}
