import { decisionText, integrationText } from '#shared/monitoring/alerting/decision-text.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import type { SimulatedCheck } from '#shared/monitoring/operations/simulate-check.ts'
import { simulatedLabel } from '#shared/monitoring/simulation/simulated.ts'
import type { FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { Crumb, Exact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'

export interface Requested {
  check: string
  /** uuid, `none` or `draft` */
  policy: string
  source: 'recorded' | 'lines'
  lines: string
  /** an unsaved policy: as a request, and as submitted fields */
  draft: { body: JsonObject; fields: readonly (readonly [string, string])[] } | null
}

interface Props {
  context: Context
  base: string
  requested: Requested
  checks: readonly { uuid: string; name: string }[]
  policies: readonly { uuid: string; name: string }[]
  /** integrations by uuid */
  names: ReadonlyMap<string, string>
  errors: ReadonlyMap<string, string>
  outcome: { inForce: SimulatedCheck; other: SimulatedCheck } | null
}

/** Maximum number of suggested checks. */
const OFFERED = 300
/** Maximum number of messages and of decisions. */
const SHOWN = 200

/** Compares a policy with the policy in force. */
export function SimulatorPage({ context, base, requested, checks, policies, names, errors, outcome }: Props) {
  const options = [
    ...(requested.draft ? [{ value: 'draft', label: 'the draft' }] : []),
    ...policies.map(({ uuid, name }) => ({ value: uuid, label: name })),
    { value: 'none', label: 'no policy' },
  ]
  const draftOf = requested.draft?.fields.find(([name]) => name === 'draft_of')?.[1]
  const chosen = options.find(({ value }) => value === requested.policy)?.label ?? 'no policy'
  return (
    <>
      <Crumb href={`${base}/policies`} label="Policies" />
      <h1>Simulator</h1>
      <p class="muted">Who would have been notified, when and why. Nothing is stored, and no notification is sent.</p>
      <EditForm
        context={context}
        action={`${base}/simulator#outcome`}
        errors={errors}
        items={[{ legend: 'What is simulated', items: simulatorItems(options) }]}
        values={{ check: requested.check, policy: requested.policy, source: requested.source, lines: requested.lines }}
        submit="Simulate"
        cancel={`${base}/policies`}
        more={
          draftOf !== undefined && (
            <button type="submit" name="do" value="draft" formAction={`${base}/policies/${draftOf}`} formNoValidate>
              Back to draft
            </button>
          )
        }
      >
        {requested.draft?.fields.map(([name, value], index) => (
          <input key={index} type="hidden" name={name} value={value} />
        ))}
        <datalist id="checks">
          {checks.slice(0, OFFERED).map(({ uuid, name }) => (
            <option key={uuid} value={name || uuid} />
          ))}
        </datalist>
      </EditForm>
      {outcome && (
        <div class="columns" id="outcome">
          <Outcome title="As it is in force" outcome={outcome.inForce} names={names} />
          <Outcome title={`With ${chosen}`} outcome={outcome.other} names={names} />
        </div>
      )}
    </>
  )
}

const SOURCES = [
  { value: 'recorded', label: 'The last 7 days' },
  { value: 'lines', label: 'These pings' },
]

function simulatorItems(policies: readonly { value: string; label: string }[]): FormItem[] {
  return [
    {
      class: 'columns',
      items: [
        { name: 'check', label: 'Check', list: 'checks' },
        { name: 'policy', label: 'With', kind: 'select', options: policies },
      ],
    },
    { name: 'source', label: 'Pings from', kind: 'segments', options: SOURCES },
    {
      name: 'lines',
      label: 'Pings',
      kind: 'lines',
      hint: 'One a line, for example 03:00 fail: success, start, fail or log, of today in UTC.',
      isMono: true,
    },
  ]
}

function Outcome(props: { title: string; outcome: SimulatedCheck; names: Props['names'] }) {
  const { title, outcome, names } = props
  const { messages, decisions, flips, assumed, truncated } = outcome
  const nameOf = (uuid: string) => names.get(uuid) ?? 'a deleted integration'
  const count = `${messages.length} ${messages.length === 1 ? 'message' : 'messages'}`
  return (
    <section class="card outcome">
      <h2>{title}</h2>
      <p>
        {count} about {flips.length} {flips.length === 1 ? 'change' : 'changes'}, from{' '}
        <Exact at={outcome.from} isNamed /> to <Exact at={outcome.until} isNamed />.
        {truncated && ' The simulation stopped early: it had too many events.'}
      </p>
      {assumed.length > 0 && <p class="muted">{assumed.join(' ')}</p>}
      {messages.length > 0 && (
        <>
          <h3>Notifications</h3>
          <ol class="timeline">
            {messages.slice(0, SHOWN).map((message, index) => (
              <li key={index}>
                <Exact at={message.at} /> {nameOf(message.integration)}: {simulatedLabel(message)}
              </li>
            ))}
          </ol>
        </>
      )}
      {decisions.length > 0 && (
        <>
          <h3>Why</h3>
          <ol class="timeline">
            {decisions.slice(0, SHOWN).map((decision, index) => (
              <li key={index}>
                <Exact at={decision.at} /> {decisionText(decision)}
                {decision.channels.length > 0 && (
                  <ul>
                    {decision.channels.map((integration) => (
                      <li key={integration.id}>{integrationText(integration, nameOf(integration.id), decision)}</li>
                    ))}
                  </ul>
                )}
              </li>
            ))}
          </ol>
        </>
      )}
      {Math.max(messages.length, decisions.length) > SHOWN && <p class="muted">The first {SHOWN} are shown.</p>}
    </section>
  )
}
