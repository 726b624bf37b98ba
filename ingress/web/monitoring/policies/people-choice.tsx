import type { StepTarget } from '#shared/monitoring/alerting/policy.ts'
import { CheckBox } from '../../forms/inputs.tsx'
import { targetKey } from './policy-state.ts'

/** A schedule or a person that a step can name. */
export interface PersonOption {
  target: StepTarget
  label: string
  hint: string
}

interface Props {
  name: string
  options: readonly PersonOption[]
  chosen: ReadonlySet<string>
  error?: string | undefined
}

/** Chosen persons who left stay in the list, so that saving the form keeps them. */
export function PeopleChoice({ name, options, chosen, error }: Props) {
  const known = new Set(options.map(({ target }) => targetKey(target)))
  const others = [...chosen].filter((key) => !known.has(key))
  return (
    <div class="stack">
      <div class="choices">
        {options.map(({ target, label, hint }) => (
          <CheckBox
            key={targetKey(target)}
            name={name}
            value={targetKey(target)}
            isChecked={chosen.has(targetKey(target))}
            label={
              <>
                {label} <small>{hint}</small>
              </>
            }
          />
        ))}
        {others.map((key) => (
          <CheckBox
            key={key}
            name={name}
            value={key}
            isChecked
            label={
              <>
                {key.startsWith('person:') ? key.slice('person:'.length) : 'A deleted schedule'}{' '}
                <small>not available</small>
              </>
            }
          />
        ))}
      </div>
      {error !== undefined && <p class="field-error">{error}</p>}
    </div>
  )
}
