import { decisionText, integrationText, personText } from '#shared/monitoring/alerting/decision-text.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import type { SimulatedCheck } from '#shared/monitoring/operations/simulate-check.ts'
import { simulatedLabel } from '#shared/monitoring/simulation/simulated.ts'
import type { FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { Crumb, Exact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { recipientText, SimulatorLanes } from './simulator-lanes.tsx'

export interface Requested {
  check: string
  /** uuid, `none`, `draft`, or `current` with the draft of a schedule */
  policy: string
  source: 'yesterday' | 'recorded' | 'lines'
  lines: string
  /** an unsaved policy: as a request, and as submitted fields */
  draft: Draft | null
  /** an unsaved schedule, with its id */
  schedule: (Draft & { id: string }) | null
}

interface Draft {
  body: JsonObject
  fields: readonly (readonly [string, string])[]
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

/** More checks make a select heavy; their names are typed. */
const OFFERED = 300
/** Maximum number of messages and of decisions. */
const SHOWN = 200

/** Compares a policy with the policy in force. */
export function SimulatorPage({ context, base, requested, checks, policies, names, errors, outcome }: Props) {
  const { draft, schedule } = requested
  const options = [
    ...(schedule ? [{ value: 'current', label: 'the policy in force' }] : []),
    ...(draft ? [{ value: 'draft', label: 'the draft' }] : []),
    ...policies.map(({ uuid, name }) => ({ value: uuid, label: name })),
    { value: 'none', label: 'no policy' },
  ]
  const draftOf = draft?.fields.find(([name]) => name === 'draft_of')?.[1]
  const back = schedule ? `on-call/${schedule.id}/edit` : draftOf && `policies/${draftOf}`
  const isTyped = checks.length > OFFERED
  const known = checks.find(({ uuid, name }) => uuid === requested.check || name === requested.check)
  const check = isTyped ? known?.name || requested.check : (known?.uuid ?? '')
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
        items={[
          { legend: 'What is simulated', items: simulatorItems(isTyped ? TYPED_CHECK : chosenCheck(checks), options) },
        ]}
        values={{ check, policy: requested.policy, source: requested.source, lines: requested.lines }}
        submit="Simulate"
        cancel={`${base}/policies`}
        more={
          back !== undefined && (
            <button type="submit" name="do" value="draft" formAction={`${base}/${back}`} formNoValidate>
              Back to draft
            </button>
          )
        }
      >
        {schedule && <p class="hint">The draft of the schedule applies to the whole time, also before now.</p>}
        {(schedule ?? draft)?.fields.map(([name, value], index) => (
          <input key={index} type="hidden" name={name} value={value} />
        ))}
        {isTyped && (
          <datalist id="checks">
            {checks.slice(0, OFFERED).map(({ uuid, name }) => (
              <option key={uuid} value={name || uuid} />
            ))}
          </datalist>
        )}
      </EditForm>
      {outcome && (
        <div class="columns" id="outcome">
          <Outcome title="With the current policy" outcome={outcome.inForce} names={names} />
          <Outcome
            title={`With ${schedule ? 'the draft of the schedule and ' : ''}${chosen}`}
            outcome={outcome.other}
            names={names}
          />
        </div>
      )}
    </>
  )
}

const SOURCES = [
  { value: 'yesterday', label: 'Yesterday (UTC)' },
  { value: 'recorded', label: 'The last 7 days' },
  { value: 'lines', label: 'Typed pings' },
]

const TYPED_CHECK: FormItem = {
  name: 'check',
  label: 'Check',
  list: 'checks',
  hint: 'Its name. The check of the newest incident is suggested.',
}

/** Checks of the same name differ by the beginning of their ids. */
function chosenCheck(checks: Props['checks']): FormItem {
  const names = Map.groupBy(checks, ({ name }) => name)
  const options = checks
    .map(({ uuid, name }) => {
      const isUnique = name !== '' && names.get(name)?.length === 1
      return { value: uuid, label: isUnique ? name : `${name || 'A check without a name'} (${uuid.slice(0, 8)})` }
    })
    .toSorted((a, b) => a.label.localeCompare(b.label, 'en', { numeric: true }))
  return {
    name: 'check',
    label: 'Check',
    kind: 'select',
    options: [{ value: '', label: 'choose a check' }, ...options],
    hint: 'The check of the newest incident is suggested.',
  }
}

function simulatorItems(check: FormItem, policies: readonly { value: string; label: string }[]): FormItem[] {
  return [
    {
      class: 'columns',
      items: [check, { name: 'policy', label: 'Compare with', kind: 'select', options: policies }],
    },
    { name: 'source', label: 'Pings from', kind: 'segments', options: SOURCES },
    {
      class: 'typed-pings',
      items: [
        {
          name: 'lines',
          label: 'Pings',
          kind: 'lines',
          hint: 'One a line, for example 03:00 fail: success, start, fail or log, of today in UTC.',
          isMono: true,
        },
      ],
    },
  ]
}

function Outcome(props: { title: string; outcome: SimulatedCheck; names: Props['names'] }) {
  const { title, outcome, names } = props
  const { messages, decisions, flips, assumed, truncated } = outcome
  const nameOf = (uuid: string) => names.get(uuid) ?? 'a deleted integration'
  const shown = messages.slice(0, SHOWN)
  const count = `${messages.length} ${messages.length === 1 ? 'message' : 'messages'}`
  return (
    <section class="card outcome">
      <h2>{title}</h2>
      <p>
        {count} about {flips.length} {flips.length === 1 ? 'change' : 'changes'}, from{' '}
        <Exact at={outcome.from} isNamed /> to <Exact at={outcome.until} isNamed />.
        {truncated && ' The simulation stopped early: it had too many events.'}
      </p>
      {!flips.some(({ up }) => !up) && <p class="muted">The check did not go down in this time.</p>}
      {assumed.length > 0 && <p class="muted">{assumed.join(' ')}</p>}
      {messages.length > 0 && (
        <>
          <h3>Notifications</h3>
          <SimulatorLanes messages={shown} from={outcome.from} until={outcome.until} nameOf={nameOf} />
          <ol class="timeline">
            {shown.map((message, index) => (
              <li key={index}>
                <Exact at={message.at} /> {recipientText(message, nameOf)}: {simulatedLabel(message)}
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
                {decision.channels.length + (decision.people?.length ?? 0) > 0 && (
                  <ul>
                    {decision.people?.map((person, position) => (
                      <li key={`${position}`}>{personText(person)}</li>
                    ))}
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
