import type { ComponentChildren } from 'preact'
import timeZoneNames from '#shared/monitoring/schedules/time-zone-names.json' with { type: 'json' }
import { type DurationUnit, humanDuration, UNIT_SECONDS } from '../shell/format.ts'

export interface FieldProps {
  label: string
  name: string
  hint?: ComponentChildren
  error?: string | undefined
}

function describedBy({ name, hint, error }: FieldProps): string | undefined {
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

export function TextField(
  props: FieldProps & {
    value?: string | undefined
    type?: 'text' | 'email' | 'password' | 'number' | 'date' | 'datetime-local'
    autocomplete?: string
    required?: boolean | undefined
    maxLength?: number
    placeholder?: string
    list?: string
    isMono?: boolean
    /** of `datetime-local`; otherwise minutes, unless the value has seconds */
    hasSeconds?: boolean
  },
) {
  return <Around field={props}>{inputOf(props)}</Around>
}

/** A local time whose seconds are not zero. */
const WITH_SECONDS = /:\d\d:(?!00)\d\d/

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
      return (
        <input
          {...common}
          type="datetime-local"
          step={props.hasSeconds || WITH_SECONDS.test(common.value) ? '1' : undefined}
        />
      )
    case 'date':
      return <input {...common} type="date" />
    case 'number':
      return <input {...common} type="number" />
    default:
      return <input {...common} type="text" list={props.list} />
  }
}

/** A SHA-256 in hex. A script of the page computes it from a file that is not sent, and shows the input for the file. */
export function HashField(props: FieldProps & { value: string; required: boolean | undefined }) {
  const { label, name } = props
  return (
    <div class="stack">
      <div class="drop-zone" data-hash-of={name} hidden>
        <label for={`${name}-file`}>Drop the file here, or choose it</label>
        {/* Without a name, the file is not part of the form. */}
        <input type="file" id={`${name}-file`} />
        <p class="hint" role="status">
          Its hash is computed in this browser. The file is not sent.
        </p>
      </div>
      <TextField {...props} label={label} isMono hint={props.hint ?? <HashHint />} />
    </div>
  )
}

function HashHint() {
  return (
    <>
      64 hexadecimal digits, as <code>sha256sum FILE</code> prints them
    </>
  )
}

/** Submitted passwords are never shown again. */
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

/** A duration: a number and, in the field `<name>_unit`, its unit. */
export function DurationField(
  props: FieldProps & {
    values: Readonly<Record<string, string | readonly string[] | undefined>>
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

/** Suggestions for fields with `list="time-zones"`; once per page. */
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
  type?: 'radio'
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
        type={props.type ?? 'checkbox'}
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

interface Choice {
  name: string
  value: string
  options: readonly { value: string; label: ComponentChildren }[]
}

/** Each option has the id `<name>-<value>`. */
export function Segments({ name, value, options }: Choice) {
  return (
    <div class="segments">
      {options.map((option) => (
        <span key={option.value}>
          <input
            type="radio"
            id={`${name}-${option.value}`}
            name={name}
            value={option.value}
            checked={option.value === value}
          />
          <label for={`${name}-${option.value}`}>{option.label}</label>
        </span>
      ))}
    </div>
  )
}

export function SegmentField(props: FieldProps & Choice) {
  const { name, label, hint, error } = props
  return (
    <div class="field" role="radiogroup" aria-labelledby={`${name}-label`} aria-describedby={describedBy(props)}>
      <p class="sub" id={`${name}-label`}>
        {label}
      </p>
      <Segments name={name} value={props.value} options={props.options} />
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p class="field-error" id={`${name}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}
