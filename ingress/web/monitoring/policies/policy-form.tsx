import type { PlanLine } from '#shared/monitoring/alerting/plan.ts'
import type { StoredPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import type { Warning } from '#shared/monitoring/on-call/warnings.ts'
import { Fields, type FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { TimeZones } from '../../forms/inputs.tsx'
import { Crumb } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { IntegrationChoice } from '../choices.tsx'
import { WarningList } from '../on-call/warning-list.tsx'
import { PeopleChoice, type PersonOption } from './people-choice.tsx'
import { PlanTimeline } from './plan-timeline.tsx'
import { hasMore, MAX_STEPS, type PolicyFormState } from './policy-state.ts'
import { StepFields } from './step-fields.tsx'

interface Props {
  context: Context
  base: string
  policy: StoredPolicy | null
  state: PolicyFormState
  /** by field name; '' for errors without a field */
  errors: ReadonlyMap<string, string>
  /** the steps of the plan; null if it has errors */
  lines: readonly PlanLine[] | null
  warnings: readonly Warning[]
  integrations: readonly StoredIntegration[]
  people: readonly PersonOption[]
}

/** Buttons that add and remove steps submit the form, which returns with its values. */
export function PolicyForm({ context, base, policy, state, errors, lines, warnings, integrations, people }: Props) {
  const action = policy ? `${base}/${policy.uuid}` : `${base}/new`
  const { values, steps } = state
  const shown = { values, errors }
  return (
    <>
      <Crumb href={base} label="Policies" />
      <h1>{policy?.name ?? 'New policy'}</h1>
      <EditForm
        context={context}
        action={action}
        errors={errors}
        submit={policy ? 'Save' : 'Create policy'}
        cancel={base}
        more={
          <button
            type="submit"
            name="try"
            value="on"
            formAction={base.replace(/\/policies$/, '/simulator')}
            formNoValidate
          >
            Try it in the simulator
          </button>
        }
      >
        <div id="plan-preview" aria-live="polite">
          {lines !== null && <PlanTimeline lines={lines} />}
          <WarningList warnings={warnings} tz="UTC" />
        </div>
        <Fields items={SELECTION} {...shown} />
        <h2 id="plan">Plan</h2>
        <input type="hidden" name="steps" value={steps.length} />
        <input type="hidden" name="draft_of" value={policy?.uuid ?? 'new'} />
        {steps.map((_, index) => (
          <StepFields
            key={index}
            index={index}
            state={state}
            errors={errors}
            integrations={integrations}
            people={people}
            action={action}
          />
        ))}
        {steps.length < MAX_STEPS && (
          <p>
            <button
              type="submit"
              name="do"
              value="add-step"
              formAction={`${action}#step-${steps.length + 1}`}
              formNoValidate
            >
              Add a step
            </button>
          </p>
        )}
        <Fallback state={state} errors={errors} integrations={integrations} people={people} />
        <Fields items={[{ ...MORE, isOpen: hasMore(state) }]} {...shown} />
      </EditForm>
      <TimeZones />
    </>
  )
}

function Fallback({
  state,
  errors,
  integrations,
  people,
}: Pick<Props, 'state' | 'errors' | 'integrations' | 'people'>) {
  const { fallback, values } = state
  return (
    <fieldset id="fallback">
      <legend>If no person acknowledges</legend>
      <p class="hint">Notified once per incident, after the last notification, or at once if no person was reached.</p>
      <PeopleChoice name="fallback.people" options={people} chosen={fallback.people} error={errors.get('fallback')} />
      <IntegrationChoice name="fallback.channels" integrations={integrations} chosen={fallback.integrations} />
      <Fields
        items={[
          {
            name: 'fallback.wait',
            label: 'Wait before the fallback',
            kind: 'duration',
            hint: 'After the last notification. Empty: 15 min.',
          },
          { name: 'notify_ack', label: 'Notify integrations of acknowledgements', kind: 'check' },
        ]}
        values={values}
        errors={errors}
      />
    </fieldset>
  )
}

const SELECTION: readonly FormItem[] = [
  {
    legend: 'For which checks',
    items: [
      { name: 'name', label: 'Name', placeholder: 'On call' },
      {
        class: 'columns',
        items: [
          {
            name: 'match',
            label: 'Tags',
            maxLength: 500,
            hint: 'Checks that have all of these; * for the whole project. Empty: only checks for which you choose this policy.',
          },
          {
            name: 'position',
            label: 'Priority',
            hint: 'If several policies match a check by tags, the one with the lowest number applies; of equal numbers, the oldest policy.',
          },
        ],
      },
    ],
  },
]

const WHEN: readonly FormItem[] = [
  {
    class: 'columns',
    items: [
      { name: 'when.failures', label: 'Failures', hint: 'Failed or missed runs before the first alert.' },
      { name: 'when.of', label: 'Of the last', hint: 'Runs. Empty: consecutive ones.' },
    ],
  },
  {
    class: 'columns',
    items: [
      { name: 'when.down_for', label: 'Down for at least', kind: 'duration' },
      { name: 'when.successes', label: 'Successes', hint: 'Consecutive ones, until it counts as up again.' },
    ],
  },
]

const MORE = {
  summary: 'When it begins and ends, groups, flapping',
  items: [
    ...WHEN,
    {
      class: 'columns',
      items: [
        { name: 'group.checks', label: 'One message for', hint: 'Checks that go down together, or more.' },
        {
          name: 'group.within',
          label: 'Collected for',
          kind: 'duration',
          hint: 'First messages wait that long. 0: no grouping.',
        },
      ],
    },
    {
      class: 'columns',
      items: [
        {
          name: 'flapping.changes',
          label: 'Flapping after',
          hint: 'Changes of state: one message reports flapping, the next one a steady state. Empty: never.',
        },
        { name: 'flapping.within', label: 'Within', kind: 'duration' },
      ],
    },
    {
      name: 'ack_timeout',
      label: 'An acknowledgement ends after',
      kind: 'duration',
      hint: 'Empty: it lasts until the check is up.',
    },
  ],
} satisfies FormItem
