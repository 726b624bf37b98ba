import type { StoredPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { DurationField, TextField, TimeZones } from '../../components/form.tsx'
import type { Context } from '../../shell/context.ts'
import { hasMore, MAX_STEPS, type PolicyFormState } from './policy-state.ts'
import { StepFields } from './step-fields.tsx'

interface Props {
  context: Context
  /** path of the list */
  base: string
  policy: StoredPolicy | null
  state: PolicyFormState
  /** by the names of fields; under '' what belongs to none */
  errors: ReadonlyMap<string, string>
  /** the plan as it would be saved; null while something is wrong with it */
  words: string | null
  channels: readonly StoredIntegration[]
}

interface Part {
  values: PolicyFormState['values']
  errorOf(name: string): string | undefined
}

/** A policy to be filled in. What adds and removes steps sends the form, and it comes back with what was typed. */
export function PolicyForm({ context, base, policy, state, errors, words, channels }: Props) {
  const action = policy ? `${base}/${policy.uuid}` : `${base}/new`
  const { values, steps } = state
  const errorOf = (name: string) => errors.get(name)
  return (
    <>
      <p class="crumb">
        <a href={base}>Policies</a>
      </p>
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
        {words !== null && (
          <p class="sentence" id="words">
            {words}
          </p>
        )}
        <Selection values={values} errorOf={errorOf} />
        <h2 id="plan">Plan</h2>
        <input type="hidden" name="steps" value={steps.length} />
        {steps.map((_, index) => (
          <StepFields key={index} index={index} state={state} errors={errors} channels={channels} action={action} />
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
        <More values={values} errorOf={errorOf} isOpen={hasMore(state)} />
      </EditForm>
      <TimeZones />
    </>
  )
}

function Selection({ values, errorOf }: Part) {
  return (
    <fieldset>
      <legend>For which checks</legend>
      <TextField label="Name" name="name" value={values.name} error={errorOf('name')} placeholder="On call" />
      <div class="columns">
        <TextField
          label="Tags"
          name="match"
          value={values.match}
          error={errorOf('match')}
          maxLength={500}
          hint="Checks that have all of these; * for the whole project. Empty: only checks that name the policy."
        />
        <TextField
          label="Position"
          name="position"
          value={values.position}
          error={errorOf('position')}
          hint="Of several policies that fit by tags, the one with the lowest position applies."
        />
      </div>
    </fieldset>
  )
}

function More({ values, errorOf, isOpen }: Part & { isOpen: boolean }) {
  const part = { values, errorOf }
  return (
    <details class="more" open={isOpen}>
      <summary>When it begins and ends, groups, flapping</summary>
      <div class="stack">
        <When {...part} />
        <div class="columns">
          <TextField
            label="One message for"
            name="group.checks"
            value={values['group.checks']}
            error={errorOf('group.checks')}
            hint="Checks that go down together, or more."
          />
          <DurationField
            label="Collected for"
            name="group.within"
            values={values}
            error={errorOf('group.within')}
            hint="First messages wait that long. 0: nothing is grouped."
          />
        </div>
        <div class="columns">
          <TextField
            label="Flapping after"
            name="flapping.changes"
            value={values['flapping.changes']}
            error={errorOf('flapping.changes')}
            hint="Changes of state: one message says so, then silence until it is steady. Empty: never."
          />
          <DurationField label="Within" name="flapping.within" values={values} error={errorOf('flapping.within')} />
        </div>
        <DurationField
          label="An acknowledgement ends after"
          name="ack_timeout"
          values={values}
          error={errorOf('ack_timeout')}
          hint="Empty: it lasts until the check is up."
        />
      </div>
    </details>
  )
}

function When({ values, errorOf }: Part) {
  return (
    <>
      <div class="columns">
        <TextField
          label="Failures"
          name="when.failures"
          value={values['when.failures']}
          error={errorOf('when.failures')}
          hint="Failed or missed runs before anybody is told."
        />
        <TextField
          label="Of the last"
          name="when.of"
          value={values['when.of']}
          error={errorOf('when.of')}
          hint="Runs. Empty: one after the other."
        />
      </div>
      <div class="columns">
        <DurationField
          label="Down for at least"
          name="when.down_for"
          values={values}
          error={errorOf('when.down_for')}
        />
        <TextField
          label="Successes"
          name="when.successes"
          value={values['when.successes']}
          error={errorOf('when.successes')}
          hint="One after the other, until it counts as up again."
        />
      </div>
    </>
  )
}
