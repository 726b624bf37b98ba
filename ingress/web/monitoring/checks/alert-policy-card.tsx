import type { Knex } from 'knex'
import { decisionText, integrationText } from '#shared/monitoring/alerting/decision-text.ts'
import { ANY_INCIDENT } from '#shared/monitoring/alerting/incident-list.ts'
import { listIncidents } from '#shared/monitoring/alerting/incident-list-store.ts'
import type { ShownDecision, ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { listDecisions } from '#shared/monitoring/alerting/incident-read-store.ts'
import { planText } from '#shared/monitoring/alerting/plan.ts'
import { type Policy, policyFor } from '#shared/monitoring/alerting/policy.ts'
import { findAlertRules, policiesOf } from '#shared/monitoring/alerting/policy-store.ts'
import type { Micros } from '#shared/time.ts'
import { Ago } from '../../shell/basics.tsx'
import {
  loadNextNotificationFacts,
  type NextNotificationFacts,
  NextNotificationText,
} from '../incidents/next-notification.tsx'
import { labelOfKind } from '../integrations/labels.ts'

const MAX_DECISIONS = 10
/** Further decisions are shown under “Earlier decisions”. */
const VISIBLE_DECISIONS = 3

export interface AlertPolicy {
  policy: Policy | null
  /** newest first */
  decisions: ShownDecision[]
  /** decisions about the requested flip and its incident, newest first; null without such a request */
  flipDecisions: ShownDecision[] | null
  open: { incident: ShownIncident; next: NextNotificationFacts } | null
}

/** @param flipId flip whose decisions were requested */
export async function loadAlertPolicy(
  db: Knex,
  check: { id: number; projectId: number; tags: string },
  flipId: number | null,
  now: Micros,
): Promise<AlertPolicy> {
  const all = { from: null, before: null, beforeId: null }
  const [policies, rules, decisions, flipDecisions, [incident], nextOf] = await Promise.all([
    policiesOf(db, [check.projectId]),
    findAlertRules(db, check.id),
    listDecisions(db, check.id, all, MAX_DECISIONS),
    flipId === null ? null : listDecisions(db, check.id, { ...all, flipId }, MAX_DECISIONS),
    listIncidents(db, check.projectId, { ...ANY_INCIDENT, state: 'open', checkId: check.id }, 1),
    loadNextNotificationFacts(db, check.projectId, now),
  ])
  return {
    policy: policyFor({ tags: check.tags, policyId: rules?.policyId ?? null }, policies),
    decisions,
    flipDecisions,
    open: incident ? { incident, next: nextOf(incident, decisions[0] ?? null) } : null,
  }
}

export function NextNotification({ alertPolicy: { open }, now }: { alertPolicy: AlertPolicy; now: Micros }) {
  if (!open) return null
  return (
    <p>
      <NextNotificationText incident={open.incident} {...open.next} now={now} />{' '}
      <a href={`/incidents/${open.incident.id}`}>Incident</a>
    </p>
  )
}

export function AlertPolicyCard(props: {
  alertPolicy: AlertPolicy
  integrations: readonly { uuid: string; name: string; kind: string }[]
  now: Micros
  /** null without the right to change the check */
  path: string | null
}) {
  const { policy, decisions, flipDecisions } = props.alertPolicy
  const names = new Map(props.integrations.map(({ uuid, name, kind }) => [uuid, name || labelOfKind(kind)]))
  const nameOf = (uuid: string) => names.get(uuid) ?? 'a deleted integration'
  return (
    <section class="card" data-region="alert-policy" aria-labelledby="alert-policy">
      <h2 id="alert-policy">Alert policy</h2>
      <p>
        {policy
          ? `${policy.name}${policy.match === '' ? '' : ` (${policy.match === '*' ? 'the whole project' : `tag ${policy.match}`})`}: ${planText(policy.plan, nameOf)}`
          : 'Notifications: this check’s integrations, on every change.'}
      </p>
      {props.path !== null && <a href={`${props.path}/rules`}>Choose a policy</a>}
      {flipDecisions !== null && (
        <>
          <h3 id="why">Decisions about this change and its incident</h3>
          {flipDecisions.length === 0 ? (
            <p class="muted">No decision about this change is stored.</p>
          ) : (
            <Decisions decisions={flipDecisions} nameOf={nameOf} now={props.now} />
          )}
        </>
      )}
      {flipDecisions === null && decisions.length > 0 && (
        <>
          <h3>Latest decisions</h3>
          <Decisions decisions={decisions.slice(0, VISIBLE_DECISIONS)} nameOf={nameOf} now={props.now} />
          {decisions.length > VISIBLE_DECISIONS && (
            <details>
              <summary>Earlier decisions</summary>
              <Decisions decisions={decisions.slice(VISIBLE_DECISIONS)} nameOf={nameOf} now={props.now} />
            </details>
          )}
        </>
      )}
    </section>
  )
}

function Decisions(props: { decisions: readonly ShownDecision[]; nameOf: (uuid: string) => string; now: Micros }) {
  return (
    <ul>
      {props.decisions.map((decision) => (
        <li key={decision.id}>
          <Ago at={decision.at} now={props.now} />: {decisionText(decision)}
          {decision.channels.length > 0 && (
            <ul>
              {decision.channels.map((integration) => (
                <li key={integration.id}>
                  {integrationResultText(decision, integration, props.nameOf(integration.id))}
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  )
}

/**
 * Returns `Chat: delivered` if outcome and reason are those of the decision. Otherwise adds them, and the state of the
 * delivery: `Chat: Notified: it is still down. Pending: Time-out`.
 */
function integrationResultText(
  decision: ShownDecision,
  integration: ShownDecision['channels'][number],
  name: string,
): string {
  const { delivery } = integration
  const isAsDecided = integration.outcome === decision.outcome && integration.reason === decision.reason
  if (isAsDecided && delivery?.state === 'delivered') return `${name}: delivered`
  const text = integrationText(integration, name, decision)
  if (delivery?.state === 'delivered') return `${text} Delivered`
  return delivery?.state === 'pending' ? `${text} Pending${delivery.error && `: ${delivery.error}`}` : text
}
