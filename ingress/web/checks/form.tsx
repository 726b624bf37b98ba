import type { ValidationError } from '#shared/errors.ts'
import type { StoredChannel } from '#shared/monitoring/channels/store.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import { type CheckSettings, DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { slugify } from '#shared/monitoring/checks/slug.ts'
import timeZoneNames from '#shared/monitoring/schedules/time-zone-names.json' with { type: 'json' }
import { CheckBox, Form, SelectField, TextArea, TextField } from '../components/form.tsx'
import { Problem } from '../components/notice.tsx'
import { type Context, field } from '../frame/context.ts'
import { isDurationUnit, splitDuration, UNIT_SECONDS } from '../frame/format.ts'
import { labelOfKind } from '../integrations/labels.ts'

/** What the form shows: texts as they were typed. */
export interface CheckFormState {
  values: Readonly<Record<string, string>>
  flags: ReadonlySet<string>
  channels: ReadonlySet<string>
  error?: { field: string; text: string }
}

const FLAGS = ['manual_resume', 'filter_subject', 'filter_body', 'filter_http_body', 'filter_default_fail', 'post_only']
const TEXTS = ['name', 'slug', 'tags', 'desc', 'kind', 'schedule', 'tz', 'start_kw', 'success_kw', 'failure_kw']
const DURATIONS = ['timeout', 'grace']

/** The form of a check as it is; of a new one with the defaults of the API. */
export function stateOf(settings: CheckSettings | null, channels: readonly string[]): CheckFormState {
  const it = settings ?? DEFAULT_SETTINGS
  const [timeout, grace] = [splitDuration(it.timeoutSeconds), splitDuration(it.graceSeconds)]
  return {
    values: {
      name: it.name,
      slug: it.slug,
      tags: it.tags,
      desc: it.desc,
      kind: it.kind === 'simple' ? 'simple' : 'schedule',
      schedule: it.schedule,
      tz: it.tz,
      timeout: String(timeout.count),
      timeout_unit: timeout.unit,
      grace: String(grace.count),
      grace_unit: grace.unit,
      start_kw: it.startKw,
      success_kw: it.successKw,
      failure_kw: it.failureKw,
    },
    flags: new Set([
      ...(it.manualResume ? ['manual_resume'] : []),
      ...(it.filterSubject ? ['filter_subject'] : []),
      ...(it.filterBody ? ['filter_body'] : []),
      ...(it.filterHttpBody ? ['filter_http_body'] : []),
      ...(it.filterDefaultFail ? ['filter_default_fail'] : []),
      ...(it.methods === 'POST' ? ['post_only'] : []),
    ]),
    channels: new Set(channels),
  }
}

/** The form as it was sent, to be shown again beside what is wrong with it. */
export function stateOfForm(form: URLSearchParams, error: ValidationError): CheckFormState {
  const names = [...TEXTS, ...DURATIONS, ...DURATIONS.map((name) => `${name}_unit`)]
  const text = error.message.replace(/^json validation error: /, '')
  return {
    values: Object.fromEntries(names.map((name) => [name, form.get(name) ?? ''])),
    flags: new Set(FLAGS.filter((name) => form.has(name))),
    channels: new Set(form.getAll('channel')),
    error: { field: /^\w+/.exec(text)?.[0] ?? '', text },
  }
}

/** The sent form as a request of the management API, whose rules then decide. */
export function bodyOf(form: URLSearchParams, isNew: boolean): JsonObject {
  const body: JsonObject = Object.create(null)
  for (const name of ['name', 'slug', 'desc', 'start_kw', 'success_kw', 'failure_kw']) body[name] = field(form, name)
  if (isNew && body.slug === '') body.slug = slugify(field(form, 'name')).slice(0, 100)
  body.tags = field(form, 'tags').split(/\s+/).join(' ')
  body.grace = secondsOf(form, 'grace')
  body.tz = field(form, 'tz') || 'UTC'
  if (form.get('kind') === 'schedule') body.schedule = field(form, 'schedule')
  else body.timeout = secondsOf(form, 'timeout')
  for (const name of FLAGS) if (name !== 'post_only') body[name] = form.has(name)
  body.methods = form.has('post_only') ? 'POST' : ''
  body.channels = form.getAll('channel').join(',')
  return body
}

/** What is no number is left as text, for the API's rule to refuse by name. */
function secondsOf(form: URLSearchParams, name: string): number | string {
  const [text, unit] = [field(form, name), form.get(`${name}_unit`) ?? '']
  const seconds = Number(text) * (isDurationUnit(unit) ? UNIT_SECONDS[unit] : 1)
  return text === '' || !Number.isFinite(seconds) ? text : seconds
}

export function CheckForm(props: {
  context: Context
  action: string
  state: CheckFormState
  channels: readonly StoredChannel[]
  submit: string
  cancel: string
  isNew: boolean
}) {
  const { state, context } = props
  const { values, flags, error } = state
  const errorOf = (name: string) => (error?.field === name ? error.text : undefined)
  const isFiltering = flags.size > 0 || [values.start_kw, values.success_kw, values.failure_kw].some((text) => text)
  const isShown = [...TEXTS, ...DURATIONS].includes(error?.field ?? '')
  return (
    <Form context={context} action={props.action} class="stack check-form">
      <Problem text={error && (isShown ? 'Something below is not right yet.' : error.text)} />
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
            hint={`a–z, 0–9, - and _: its name in ping addresses.${props.isNew ? ' Left empty, it is made from the name.' : ''}`}
          />
          <TextField
            label="Tags"
            name="tags"
            value={values.tags}
            error={errorOf('tags')}
            maxLength={500}
            hint="Separated by spaces."
          />
        </div>
        <TextArea
          label="Description"
          name="desc"
          value={values.desc ?? ''}
          hint="What the job does, and what to do when it fails."
        />
      </fieldset>

      <fieldset>
        <legend>When it is expected</legend>
        <div class="segments">
          <span>
            <input type="radio" id="kind-simple" name="kind" value="simple" checked={values.kind !== 'schedule'} />
            <label for="kind-simple">At an interval</label>
          </span>
          <span>
            <input type="radio" id="kind-schedule" name="kind" value="schedule" checked={values.kind === 'schedule'} />
            <label for="kind-schedule">By a schedule</label>
          </span>
        </div>
        <div class="if-simple">
          <DurationField
            label="Period"
            name="timeout"
            values={values}
            error={errorOf('timeout')}
            hint="The longest time between two successful pings."
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
            hint="The clock that the schedule goes by."
          />
          <datalist id="time-zones">
            {timeZoneNames.accepted.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </div>
        <DurationField
          label="Grace time"
          name="grace"
          values={values}
          error={errorOf('grace')}
          hint="How late a ping may be, and how long a run may take, before somebody is told."
        />
      </fieldset>

      <fieldset>
        <legend>Who is told</legend>
        {props.channels.length === 0 ? (
          <p class="muted">There is no integration in this project yet.</p>
        ) : (
          <div class="choices">
            {props.channels.map((channel) => (
              <CheckBox
                key={channel.uuid}
                name="channel"
                value={channel.uuid}
                isChecked={state.channels.has(channel.uuid)}
                label={
                  <>
                    {channel.name || labelOfKind(channel.kind)} <small>{labelOfKind(channel.kind)}</small>
                  </>
                }
              />
            ))}
          </div>
        )}
      </fieldset>

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
            <CheckBox
              name="filter_http_body"
              isChecked={flags.has('filter_http_body')}
              label="bodies of HTTP requests"
            />
          </div>
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
          <CheckBox
            name="filter_default_fail"
            isChecked={flags.has('filter_default_fail')}
            label="Without any of these words it is a failure"
            hint="Otherwise it is ignored."
          />
        </div>
      </details>

      <div class="form-foot">
        <button type="submit" class="primary">
          {props.submit}
        </button>
        <a class="button" href={props.cancel}>
          Cancel
        </a>
      </div>
    </Form>
  )
}

function DurationField(props: {
  label: string
  name: 'timeout' | 'grace'
  values: Readonly<Record<string, string>>
  error: string | undefined
  hint: string
}) {
  const unitName = `${props.name}_unit`
  return (
    <div class="duration">
      <TextField
        label={props.label}
        name={props.name}
        value={props.values[props.name]}
        error={props.error}
        hint={props.hint}
      />
      <SelectField
        label={`Unit of the ${props.label.toLowerCase()}`}
        name={unitName}
        value={props.values[unitName] ?? 'minutes'}
        options={Object.keys(UNIT_SECONDS).map((unit) => ({ value: unit, label: unit }))}
      />
    </div>
  )
}
