import type { ComponentChildren } from 'preact'
import { describedBy, type FieldProps } from './form.tsx'

interface Choice {
  name: string
  value: string
  options: readonly { value: string; label: ComponentChildren }[]
}

/** A few ways of which one is taken, side by side; each has the id `<name>-<value>`. */
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

/** As `Segments`, with a label, an explanation and what is wrong: in place of a select whose few choices are short. */
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
