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
import { type Coming, loadComing, NextMessage } from '../incidents/next-message.tsx'

const SHOWN = 10

export interface AlertPolicy {
  policy: Policy | null
  decisions: ShownDecision[]
  /** decisions about one flip, newest first; null unless requested */
  why: ShownDecision[] | null
  open: { incident: ShownIncident; coming: Coming } | null
}

/** @param flipId flip whose decisions are shown */
export async function loadAlertPolicy(
  db: Knex,
  check: { id: number; projectId: number; tags: string },
  flipId: number | null,
): Promise<AlertPolicy> {
  const all = { from: null, before: null, beforeId: null }
  const [policies, rules, decisions, why, [incident], comingOf] = await Promise.all([
    policiesOf(db, [check.projectId]),
    findAlertRules(db, check.id),
    listDecisions(db, check.id, all, SHOWN),
    flipId === null ? null : listDecisions(db, check.id, { ...all, flipId }, SHOWN),
    listIncidents(db, check.projectId, { ...ANY_INCIDENT, state: 'open', checkId: check.id }, 1),
    loadComing(db, check.projectId),
  ])
  return {
    policy: policyFor({ tags: check.tags, policyId: rules?.policyId ?? null }, policies),
    decisions,
    why,
    open: incident ? { incident, coming: comingOf(incident, decisions[0] ?? null) } : null,
  }
}

export function UpcomingMessages({ alertPolicy: { open }, now }: { alertPolicy: AlertPolicy; now: Micros }) {
  if (!open) return null
  return (
    <p>
      Next message: <NextMessage incident={open.incident} {...open.coming} now={now} />{' '}
      <a href={`/incidents/${open.incident.id}`}>Incident</a>
    </p>
  )
}

/** Further decisions are behind a summary. */
const SHOWN_DECISIONS = 3

export function AlertPolicyCard(props: {
  alertPolicy: AlertPolicy
  integrations: readonly { uuid: string; name: string }[]
  now: Micros
  /** null without the right to change the check */
  path: string | null
}) {
  const { policy, decisions, why } = props.alertPolicy
  const names = new Map(props.integrations.map(({ uuid, name }) => [uuid, name || 'an integration without a name']))
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
      {why !== null && (
        <>
          <h3 id="why">Why? This change and its incident</h3>
          {why.length === 0 ? (
            <p class="muted">Nothing is recorded about it.</p>
          ) : (
            <Decisions decisions={why} nameOf={nameOf} now={props.now} />
          )}
        </>
      )}
      {why === null && decisions.length > 0 && (
        <>
          <h3>Why?</h3>
          <Decisions decisions={decisions.slice(0, SHOWN_DECISIONS)} nameOf={nameOf} now={props.now} />
          {decisions.length > SHOWN_DECISIONS && (
            <details>
              <summary>Earlier ones</summary>
              <Decisions decisions={decisions.slice(SHOWN_DECISIONS)} nameOf={nameOf} now={props.now} />
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
                <li key={integration.id}>{deliveredText(decision, integration, props.nameOf(integration.id))}</li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  )
}

/**
 * `Chat: delivered`; includes the reason if it differs from the decision's: `Chat: Notified: it is still down.
 * Delivered`
 */
function deliveredText(decision: ShownDecision, integration: ShownDecision['channels'][number], name: string): string {
  const { delivery } = integration
  const isTheSame = integration.outcome === decision.outcome && integration.reason === decision.reason
  if (isTheSame && delivery?.state === 'delivered') return `${name}: delivered`
  const isOpen = delivery?.state === 'delivered' || delivery?.state === 'pending'
  return `${integrationText(integration, name, decision)}${isOpen ? ` ${delivery.state}${delivery.error && `: ${delivery.error}`}` : ''}`
}
