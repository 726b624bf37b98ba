import type { ComponentChildren } from 'preact'
import { MIN_PASSWORD_LENGTH } from '#shared/tenancy/accounts/password.ts'
import type { DurationUnit } from '../shell/format.ts'
import { CheckBox, DurationField, HashField, SegmentField, SelectField, TextArea, TextField } from './inputs.tsx'

export interface FormField {
  name: string
  label: string
  hint?: ComponentChildren | undefined
  /**
   * `text` by default. `number` is typed as text and may have commas; `integer` uses the browser's control; `segments`
   * shows a few options side by side, `radios` one per line with hints; `choices` accepts several options; `hash` is the SHA-256 of a file.
   */
  kind?:
    | 'text'
    | 'number'
    | 'integer'
    | 'email'
    | 'password'
    | 'date'
    | 'datetime'
    | 'hash'
    | 'duration'
    | 'lines'
    | 'select'
    | 'segments'
    | 'check'
    | 'choices'
    | 'radios'
    | undefined
  options?: readonly FieldOption[]
  isRequired?: boolean
  isMono?: boolean
  /** default of the input */
  value?: string | undefined
  /** default in the sandbox only */
  demo?: string
  autocomplete?: string
  maxLength?: number
  placeholder?: string
  /** id of a `datalist` */
  list?: string
  rows?: number
  /** accepts seconds in a `datetime` */
  hasSeconds?: boolean
  /** converts the text to the member of a request body; returns other text unchanged, for the validation to refuse */
  parse?: (text: string) => unknown
  /** values of a duration to choose with one click */
  presets?: readonly (readonly [count: number, unit: DurationUnit])[]
}

interface FieldOption {
  value: string
  label: ComponentChildren
  hint?: string
}

export type FormItem =
  | FormField
  | { legend: string; class?: string; items: readonly FormItem[] }
  | { summary: string; isOpen?: boolean; items: readonly FormItem[] }
  | { class: string; items: readonly FormItem[] }
  | { content: ComponentChildren }

export type FormValues = Readonly<Record<string, string | readonly string[] | undefined>>

export type FieldErrors = ReadonlyMap<string, string>

interface Shown {
  values?: FormValues | undefined
  errors?: FieldErrors | undefined
}

export function Fields({ items, ...shown }: Shown & { items: readonly FormItem[] }) {
  return (
    <>
      {items.map((item, index) => (
        <Item key={'name' in item ? item.name : `item-${index}`} item={item} {...shown} />
      ))}
    </>
  )
}

function Item({ item, ...shown }: Shown & { item: FormItem }) {
  if ('name' in item) return <Field field={item} {...shown} />
  if ('content' in item) return <>{item.content}</>
  const inside = <Fields items={item.items} {...shown} />
  if ('legend' in item) {
    return (
      <fieldset class={item.class}>
        <legend>{item.legend}</legend>
        {inside}
      </fieldset>
    )
  }
  if ('summary' in item) {
    return (
      <details
        class="more"
        open={item.isOpen === true || fieldsOf(item.items).some(({ name }) => shown.errors?.has(name))}
      >
        <summary>{item.summary}</summary>
        <div class="stack">{inside}</div>
      </details>
    )
  }
  return <div class={item.class}>{inside}</div>
}

export function fieldsOf(items: readonly FormItem[]): FormField[] {
  return items.flatMap((item) => ('name' in item ? [item] : 'items' in item ? fieldsOf(item.items) : []))
}

const INPUT_TYPES = {
  integer: 'number',
  email: 'email',
  password: 'password',
  date: 'date',
  datetime: 'datetime-local',
} as const

function Field({ field, values = {}, errors }: Shown & { field: FormField }) {
  const { name, label, hint, kind = 'text', options = [], value: initial, isRequired, ...rest } = field
  const sent = values[name]
  const value = (typeof sent === 'string' ? sent : sent?.[0]) ?? initial ?? ''
  const common = { name, label, error: errors?.get(name), ...(hint !== undefined && { hint }) }
  switch (kind) {
    case 'select':
      return <SelectField {...common} value={value} options={options} />
    case 'segments':
      return <SegmentField {...common} value={value} options={options} />
    case 'radios':
      return <Choices {...common} options={options} chosen={[value]} type="radio" />
    case 'lines':
      return <TextArea {...common} value={value} required={isRequired} rows={rest.rows} isMono={rest.isMono} />
    case 'duration':
      return <DurationField {...common} values={values} {...(rest.presets && { presets: rest.presets })} />
    case 'choices':
      return <Choices {...common} options={options} chosen={typeof sent === 'string' ? [sent] : (sent ?? [])} />
    case 'hash':
      return <HashField {...common} value={value} required={isRequired} />
    case 'check':
      return <CheckBox {...common} isChecked={value === 'on'} />
    default: {
      const type = kind in INPUT_TYPES ? INPUT_TYPES[kind as keyof typeof INPUT_TYPES] : 'text'
      return <TextField {...common} {...rest} type={type} value={value} required={isRequired} />
    }
  }
}

function Choices(props: {
  type?: 'radio'
  name: string
  label: string
  hint?: ComponentChildren
  error: string | undefined
  options: readonly FieldOption[]
  chosen: readonly string[]
}) {
  const { type, name, label, hint, error, options, chosen } = props
  return (
    <fieldset class={error === undefined ? undefined : 'wrong'}>
      <legend>{label}</legend>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {error !== undefined && <p class="field-error">{error}</p>}
      {options.map((option) => (
        <CheckBox
          key={option.value}
          {...(type && { type })}
          name={name}
          {...option}
          isChecked={chosen.includes(option.value)}
        />
      ))}
    </fieldset>
  )
}

/** @param hint shown after the minimum length */
export function newPasswordField(label: string, hint = ''): FormField {
  return {
    name: 'password',
    label,
    kind: 'password',
    autocomplete: 'new-password',
    hint: `At least ${MIN_PASSWORD_LENGTH} characters. ${hint}`.trimEnd(),
    isRequired: true,
  }
}

export function currentPasswordField(name: string, label = 'Current password'): FormField {
  return { name, label, kind: 'password', autocomplete: 'current-password', isRequired: true }
}
