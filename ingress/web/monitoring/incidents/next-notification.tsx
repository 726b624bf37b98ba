import type { Knex } from 'knex'
import { decisionText } from '#shared/monitoring/alerting/decision-text.ts'
import type { ShownDecision, ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { nextNotification } from '#shared/monitoring/alerting/next-notification.ts'
import { IMPLICIT_PLAN, type Plan } from '#shared/monitoring/alerting/policy.ts'
import { policiesOf } from '#shared/monitoring/alerting/policy-store.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import type { Micros } from '#shared/time.ts'
import { Ago, Exact } from '../../shell/basics.tsx'
import { labelOfKind } from '../integrations/labels.ts'

/** Facts for the text about the next notification of an incident. */
export interface NextNotificationFacts {
  /** plan of the applicable policy; null without a policy */
  plan: Plan | null
  /** newest decision, which explains a suppression; null to omit its details */
  decision: Pick<ShownDecision, 'outcome' | 'detail' | 'reason' | 'until'> | null
  /** name of an integration by uuid */
  nameOf(uuid: string): string
}

interface Props extends NextNotificationFacts {
  /** must be open */
  incident: ShownIncident
  /** omits the state of the incident, for a table that has a column for it */
  isShort?: boolean
  now: Micros
}

export async function loadNextNotificationFacts(
  db: Knex,
  projectId: number,
): Promise<(incident: ShownIncident, decision: NextNotificationFacts['decision']) => NextNotificationFacts> {
  const [policies, integrations] = await Promise.all([policiesOf(db, [projectId]), listIntegrations(db, projectId)])
  const names = new Map(integrations.map(({ uuid, name, kind }) => [uuid, name || labelOfKind(kind)]))
  return ({ policyUuid }, decision) => ({
    plan: policies.find(({ uuid }) => uuid === policyUuid)?.plan ?? null,
    decision,
    nameOf: (uuid) => names.get(uuid) ?? 'a deleted integration',
  })
}

/** Completes “Next notification: ” with time and recipients, or with the reason why none follows. */
export function NextNotificationText({ incident, plan, decision, nameOf, isShort = false, now }: Props) {
  const { state, suppression, ackUntil, isDirect } = incident
  if (state === 'acknowledged') {
    return (
      <>
        none{!isShort && ', it is acknowledged'}
        {ackUntil !== null && (
          <>
            {' '}
            until <Exact at={ackUntil} isNamed />
          </>
        )}
        {!isShort && '.'}
      </>
    )
  }
  const next = isDirect ? null : nextNotification(incident, plan ?? IMPLICIT_PLAN)
  if (next) {
    const whom = next.integrations.map((uuid) => (uuid === null ? 'its integrations' : nameOf(uuid))).join(', ')
    return (
      <>
        <Ago at={next.at} now={now} /> to {whom}
        {next.isRepeat && ', once more'}
        {!isShort && ', if it is still down and not acknowledged.'}
      </>
    )
  }
  if (suppression !== null && isShort) return <span class="muted">–</span>
  if (suppression !== null) {
    const isReported = decision?.outcome === 'suppressed' && decision.reason === suppression
    const why = decisionText({ outcome: '', reason: suppression, detail: isReported ? decision.detail : {} })
    return (
      <>
        none for now: {why}
        {isReported && decision.until !== null && decision.until > now && (
          <>
            {' '}
            It is evaluated again <Ago at={decision.until} now={now} />.
          </>
        )}
      </>
    )
  }
  const isNotified = isDirect || incident.notified.some((entries) => entries > 0)
  if (isShort) return <>{isNotified ? 'no further notification' : 'none'}</>
  return <>{isNotified ? 'when it is up again.' : 'none.'}</>
}
