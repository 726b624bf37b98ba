import type { ComponentChildren } from 'preact'
import timeZoneNames from '#shared/monitoring/schedules/time-zone-names.json' with { type: 'json' }
import type { Context } from '../shell/context.ts'
import { type DurationUnit, humanDuration, UNIT_SECONDS } from '../shell/format.ts'

/** A form that changes something: it always carries the token of this browser. */
export function Form(props: {
  context: Context
  action: string
  children: ComponentChildren
  class?: string
  id?: string
  /** asked before it is done: in a dialog where scripts run, else on a page of its own */
  confirm?: string
  /** what the button says that does it all the same */
  yes?: string
  /** sent without leaving the page, where scripts run; what is said once it is done */
  inline?: string
}) {
  return (
    <form
      method="post"
      action={props.action}
      id={props.id}
      class={props.class}
      data-confirm={props.confirm}
      data-yes={props.yes}
      data-inline={props.inline}
    >
      <input type="hidden" name="_csrf" value={props.context.csrf} />
      {props.confirm !== undefined && (
        <>
          <input type="hidden" name="_question" value={props.confirm} />
          <input type="hidden" name="_from" value={pageOf(props.context)} />
          {props.yes !== undefined && <input type="hidden" name="_yes" value={props.yes} />}
        </>
      )}
      {props.children}
    </form>
  )
}

/** Where the form is; nowhere on an answer to another form, which has no page of its own. */
function pageOf({ request }: Context): string {
  return request.method === 'GET' ? request.originalUrl : ''
}

/** What every field has. */
export interface FieldProps {
  label: string
  name: string
  hint?: ComponentChildren
  error?: string | undefined
}

/** The ids of what explains a field; undefined when nothing does. */
export function describedBy({ name, hint, error }: FieldProps): string | undefined {
  const ids = [...(hint === undefined ? [] : [`${name}-hint`]), ...(error === undefined ? [] : [`${name}-error`])]
  return ids.length === 0 ? undefined : ids.join(' ')
}

function Around({ field, children }: { field: FieldProps; children: ComponentChildren }) {
  return (
    <div class={field.error === undefined ? 'field' : 'field wrong'}>
      <label for={field.name}>{field.label}</label>
      {children}
      {field.hint !== undefined && (
        <p class="hint" id={`${field.name}-hint`}>
          {field.hint}
        </p>
      )}
      {field.error !== undefined && (
        <p class="field-error" id={`${field.name}-error`}>
          {field.error}
        </p>
      )}
    </div>
  )
}

/** One line to type, with its label, an explanation and what is wrong with it. */
export function TextField(
  props: FieldProps & {
    value?: string | undefined
    type?: 'text' | 'email' | 'password' | 'number' | 'datetime-local'
    autocomplete?: string
    required?: boolean | undefined
    maxLength?: number
    placeholder?: string
    list?: string
    isMono?: boolean
  },
) {
  return <Around field={props}>{inputOf(props)}</Around>
}

function inputOf(props: Parameters<typeof TextField>[0]) {
  const common = {
    id: props.name,
    name: props.name,
    value: props.value ?? '',
    autocomplete: props.autocomplete ?? 'off',
    required: props.required,
    maxLength: props.maxLength,
    placeholder: props.placeholder,
    class: props.isMono ? 'mono' : undefined,
    'aria-describedby': describedBy(props),
    'aria-invalid': props.error === undefined ? undefined : ('true' as const),
  }
  switch (props.type) {
    case 'email':
      return <input {...common} type="email" />
    case 'password':
      return <input {...common} type="password" />
    case 'datetime-local':
      return <input {...common} type="datetime-local" step="1" />
    case 'number':
      return <input {...common} type="number" />
    default:
      return <input {...common} type="text" list={props.list} />
  }
}

/** What the fields are called in which passwords are typed: of what was sent, these are never shown again. */
export const PASSWORD_FIELDS = ['password', 'old', 'present'] as const

export function TextArea(
  props: FieldProps & {
    value?: string
    rows?: number | undefined
    isMono?: boolean | undefined
    required?: boolean | undefined
  },
) {
  return (
    <Around field={props}>
      <textarea
        id={props.name}
        name={props.name}
        rows={props.rows ?? 3}
        required={props.required}
        class={props.isMono ? 'mono' : undefined}
        aria-describedby={describedBy(props)}
        aria-invalid={props.error === undefined ? undefined : 'true'}
      >
        {props.value ?? ''}
      </textarea>
    </Around>
  )
}

export function SelectField(
  props: FieldProps & { value: string; options: readonly { value: string; label: ComponentChildren }[] },
) {
  return (
    <Around field={props}>
      <select id={props.name} name={props.name} aria-describedby={describedBy(props)}>
        {props.options.map(({ value, label }) => (
          <option key={value} value={value} selected={value === props.value}>
            {label}
          </option>
        ))}
      </select>
    </Around>
  )
}

/** A span of time: a number and, in the field `<name>_unit`, what it counts. */
export function DurationField(
  props: FieldProps & {
    values: Readonly<Record<string, string | readonly string[] | undefined>>
    /** what is chosen most, to be set by one press */
    presets?: readonly (readonly [count: number, unit: DurationUnit])[]
  },
) {
  const { label, name, values } = props
  const unitName = `${name}_unit`
  return (
    <div class="duration">
      <TextField label={label} name={name} value={textOf(values[name])} error={props.error} hint={props.hint} />
      <SelectField
        label={`Unit of the ${label.toLowerCase()}`}
        name={unitName}
        value={textOf(values[unitName]) ?? 'minutes'}
        options={UNITS.map((unit) => ({ value: unit, label: unit }))}
      />
      {props.presets && (
        <ul class="chips small presets" aria-label={`Usual values of the ${label.toLowerCase()}`} data-scripted hidden>
          {props.presets.map(([count, unit]) => (
            <li key={`${count} ${unit}`}>
              <button type="button" data-sets={name} value={count} data-unit={unit}>
                {humanDuration(count * UNIT_SECONDS[unit])}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value
}

const UNITS = ['seconds', 'minutes', 'hours', 'days'] as const satisfies readonly DurationUnit[]

/** What fields of time zones offer while one types, by `list="time-zones"`; once on a page. */
export function TimeZones() {
  return (
    <datalist id="time-zones">
      {timeZoneNames.accepted.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  )
}

export function CheckBox(props: {
  name: string
  label: ComponentChildren
  value?: string
  isChecked: boolean
  hint?: ComponentChildren
}) {
  const id = props.value === undefined ? props.name : `${props.name}-${props.value}`
  return (
    <div class="choice">
      <input
        type="checkbox"
        id={id}
        name={props.name}
        value={props.value ?? 'on'}
        checked={props.isChecked}
        aria-describedby={props.hint === undefined ? undefined : `${id}-hint`}
      />
      <label for={id}>{props.label}</label>
      {props.hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
    </div>
  )
}

/** Text to take away, with a button for it where scripts run. */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <span class="copyable">
      <code>{text}</code>
      <button type="button" class="copy" data-copy={text} aria-label={`Copy ${label}`} hidden>
        Copy
      </button>
    </span>
  )
}

/** Several lines to take away. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex lint/a11y/useSemanticElements: what scrolls must be reachable by keyboard, and have a name */}
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
      <button type="button" class="copy" data-copy={text} aria-label={`Copy ${label}`} hidden>
        Copy
      </button>
    </div>
  )
}
