import type { ComponentChildren } from 'preact'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { EditForm } from '../../forms/form.tsx'
import { CheckBox, DurationField, Segments, TextArea, TextField, TimeZones } from '../../forms/inputs.tsx'
import type { Context } from '../../shell/context.ts'
import { IntegrationChoice } from '../choices.tsx'
import { AddIntegration } from './added-integration.tsx'
import { type CheckFormState, isField } from './form-state.ts'
import { SchedulePreview } from './preview.tsx'

interface Part {
  values: CheckFormState['values']
  errorOf(name: string): string | undefined
}

export function CheckForm(props: {
  context: Context
  action: string
  state: CheckFormState
  integrations: readonly StoredIntegration[]
  /** distinct tags of the project's checks */
  tags: readonly string[]
  submit: string
  cancel: string
  isNew: boolean
  /** path of the project's pages */
  base: string
}) {
  const { state, context } = props
  const { values, flags, errors } = state
  const errorOf = (name: string) => errors?.get(name)
  return (
    <div class="form-and-preview">
      <EditForm
        context={context}
        action={props.action}
        errors={errors}
        isShown={isField}
        submit={props.submit}
        cancel={props.cancel}
      >
        <Identity values={values} errorOf={errorOf} isNew={props.isNew} tags={props.tags} />
        <Expectation values={values} errorOf={errorOf} />
        <Recipients integrations={props.integrations} chosen={state.integrations}>
          {props.isNew && (
            <AddIntegration
              config={context.deps.config}
              base={props.base}
              added={state.added ?? null}
              error={errorOf('new_value')}
            />
          )}
        </Recipients>
        <Filters values={values} errorOf={errorOf} flags={flags} />
      </EditForm>
      <SchedulePreview values={values} now={context.deps.now()} />
    </div>
  )
}

function Identity({ values, errorOf, isNew, tags }: Part & { isNew: boolean; tags: readonly string[] }) {
  return (
    <fieldset>
      <legend>What it is</legend>
      <TextField
        label="Name"
        name="name"
        value={values.name}
        error={errorOf('name')}
        maxLength={100}
        placeholder="Nightly database backup"
      />
      <div class="columns">
        <TextField
          label="Slug"
          name="slug"
          value={values.slug}
          error={errorOf('slug')}
          isMono
          maxLength={100}
          hint={`a–z, 0–9, - and _: its name in ping addresses.${isNew ? ' Left empty, it is made from the name.' : ''}`}
        />
        <TextField
          label="Tags"
          name="tags"
          value={values.tags}
          error={errorOf('tags')}
          maxLength={500}
          hint="Separated by spaces."
          list="known-tags"
        />
        <datalist id="known-tags" data-words>
          {tags.map((tag) => (
            <option key={tag} value={tag} />
          ))}
        </datalist>
      </div>
      <TextArea
        label="Description"
        name="desc"
        value={values.desc ?? ''}
        hint="What the job does, and what to do when it fails."
      />
    </fieldset>
  )
}

/** Weeks are shown in days because the form has no larger unit. */
const PERIODS = [
  [1, 'minutes'],
  [5, 'minutes'],
  [1, 'hours'],
  [1, 'days'],
  [7, 'days'],
] as const

const EARLY = [
  [0, 'minutes'],
  [1, 'minutes'],
  [5, 'minutes'],
] as const

function Expectation({ values, errorOf }: Part) {
  return (
    <fieldset>
      <legend>When it is expected</legend>
      <Segments
        name="kind"
        value={values.kind === 'schedule' ? 'schedule' : 'simple'}
        options={[
          { value: 'simple', label: 'At an interval' },
          { value: 'schedule', label: 'By a schedule' },
        ]}
      />
      <div class="if-simple">
        <DurationField
          label="Period"
          name="timeout"
          values={values}
          error={errorOf('timeout')}
          hint="The longest time between two successful pings."
          presets={PERIODS}
        />
      </div>
      <div class="if-schedule columns">
        <TextField
          label="Cron or OnCalendar expression"
          name="schedule"
          value={values.schedule}
          error={errorOf('schedule')}
          isMono
          placeholder="15 3 * * mon-fri"
          hint="Five cron fields, or systemd's OnCalendar form."
        />
        <TextField
          label="Time zone"
          name="tz"
          value={values.tz}
          error={errorOf('tz')}
          list="time-zones"
          hint="Time zone of the schedule."
        />
        <TimeZones />
      </div>
      <DurationField
        label="Grace time"
        name="grace"
        values={values}
        error={errorOf('grace')}
        hint="How late a ping may be, and how long a run may take, before notifications are sent."
      />
      <div class="if-schedule">
        <DurationField
          label="Accept pings early"
          name="early"
          values={values}
          error={errorOf('early')}
          hint="A ping this long before a time of the schedule counts for it. With start pings the start of the run counts."
          presets={EARLY}
        />
      </div>
    </fieldset>
  )
}

function Recipients(props: {
  integrations: readonly StoredIntegration[]
  chosen: ReadonlySet<string>
  children: ComponentChildren
}) {
  return (
    <fieldset id="integrations">
      <legend>Notifications</legend>
      <IntegrationChoice name="integration" integrations={props.integrations} chosen={props.chosen} />
      {props.children}
    </fieldset>
  )
}

function Filters({ values, errorOf, flags }: Part & { flags: ReadonlySet<string> }) {
  const isFiltering = flags.size > 0 || [values.start_kw, values.success_kw, values.failure_kw].some((text) => text)
  return (
    <details class="more" open={isFiltering}>
      <summary>Filters and pausing</summary>
      <div class="stack">
        <CheckBox
          name="post_only"
          isChecked={flags.has('post_only')}
          label="Only POST requests count"
          hint="Link previews and mail scanners open addresses with GET."
        />
        <CheckBox
          name="manual_resume"
          isChecked={flags.has('manual_resume')}
          label="A pause ends by hand only"
          hint="Otherwise the next ping ends it."
        />
        <p class="sub">Look for keywords in</p>
        <div class="choices">
          <CheckBox name="filter_subject" isChecked={flags.has('filter_subject')} label="subjects of mails" />
          <CheckBox name="filter_body" isChecked={flags.has('filter_body')} label="bodies of mails" />
          <CheckBox name="filter_http_body" isChecked={flags.has('filter_http_body')} label="bodies of HTTP requests" />
        </div>
        <TextField
          label="JSON member"
          name="filter_json"
          value={values.filter_json}
          error={errorOf('filter_json')}
          isMono
          maxLength={200}
          placeholder="/status"
          hint="A JSON Pointer: in bodies of HTTP requests the words are searched only in this member. Empty: in the whole body."
        />
        <Keywords values={values} errorOf={errorOf} />
        <CheckBox
          name="filter_default_fail"
          isChecked={flags.has('filter_default_fail')}
          label="Without any of these words it is a failure"
          hint="Otherwise it is ignored."
        />
        <CheckBox
          name="filter_else"
          isChecked={flags.has('filter_else')}
          label="Without any of these words the URL decides"
          hint="Success, start, failure, note or exit status, as without a filter. A mail is a success. Overrides the box above."
        />
      </div>
    </details>
  )
}

function Keywords({ values, errorOf }: Part) {
  return (
    <>
      <TextField
        label="Words for failure"
        name="failure_kw"
        value={values.failure_kw}
        error={errorOf('failure_kw')}
        hint="Separated by commas; looked for first."
        placeholder="ERROR, failed"
      />
      <TextField
        label="Words for success"
        name="success_kw"
        value={values.success_kw}
        error={errorOf('success_kw')}
        placeholder="backup complete"
      />
      <TextField label="Words for a start" name="start_kw" value={values.start_kw} error={errorOf('start_kw')} />
    </>
  )
}
