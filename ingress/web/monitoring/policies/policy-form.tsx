import type { PlanLine } from '#shared/monitoring/alerting/plan.ts'
import type { StoredPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { Fields, type FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { TimeZones } from '../../forms/inputs.tsx'
import { Crumb } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
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
  integrations: readonly StoredIntegration[]
}

/** Buttons that add and remove steps submit the form, which returns with its values. */
export function PolicyForm({ context, base, policy, state, errors, lines, integrations }: Props) {
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
        <Fields items={[{ ...MORE, isOpen: hasMore(state) }]} {...shown} />
      </EditForm>
      <TimeZones />
    </>
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
            hint: 'Checks that have all of these; * for the whole project. Empty: only checks that name the policy.',
          },
          {
            name: 'position',
            label: 'Position',
            hint: 'Of several policies that match by tags, the one with the lowest position applies.',
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
