import type { FormItem } from '../../forms/fields.tsx'

export interface Member {
  email: string
  /** may be empty */
  name: string
}

interface Props {
  /** from 0 */
  layer: number
  /** addresses in the order of their turns */
  people: readonly string[]
  members: readonly Member[]
  error: string | undefined
  /** address of the form */
  action: string
}

/**
 * Lists the persons of a layer in the order of their turns. The buttons submit the form, which returns with its values.
 * A person who is chosen but not added yet is added by every submission. Persons who left stay in the list.
 */
export function PeopleField({ layer, people, members, error, action }: Props) {
  const id = `layers[${layer}].add`
  const describedBy = error === undefined ? undefined : `${id}-error`
  const button = (value: string, label: string, name?: string) => (
    <button
      type="submit"
      name="do"
      value={value}
      class={name === undefined ? undefined : 'quiet'}
      formAction={`${action}#layer-${layer + 1}`}
      formNoValidate
      aria-label={name}
    >
      {label}
    </button>
  )
  return (
    <div class={error === undefined ? 'field' : 'field wrong'}>
      <p class="sub" id={`layers[${layer}].people`}>
        People
      </p>
      <p class="hint">In the order of their turns. A person can have several.</p>
      {people.length > 0 && (
        <ol class="turns" aria-labelledby={`layers[${layer}].people`}>
          {people.map((address, index) => {
            const member = members.find(({ email }) => email === address)
            const turn = `${member?.name || address}, turn ${index + 1}`
            return (
              <li key={`${index} ${address}`}>
                <input type="hidden" name={`layers[${layer}].people`} value={address} />
                <span class="breakable">
                  {member?.name || address} <small>{member ? member.name && address : 'not a member'}</small>
                </span>
                {index > 0 && button(`person-up-${layer}-${index}`, 'Up', `Up: ${turn}`)}
                {button(`person-remove-${layer}-${index}`, 'Remove', `Remove: ${turn}`)}
              </li>
            )
          })}
        </ol>
      )}
      <label for={id}>Add a person</label>
      <div class="row add-person">
        <select
          id={id}
          name={id}
          aria-describedby={describedBy}
          aria-invalid={error === undefined ? undefined : 'true'}
        >
          <option value="">choose a member</option>
          {optionsOf(members).map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        {button('draft', 'Add')}
      </div>
      {error !== undefined && (
        <p class="field-error" id={describedBy}>
          {error}
        </p>
      )}
    </div>
  )
}

/** Offers the members; keeps a chosen person who left. */
export function fallbackField(members: readonly Member[], chosen: string): FormItem {
  const left = chosen !== '' && members.every(({ email }) => email !== chosen)
  return {
    name: 'fallback',
    label: 'Fallback',
    kind: 'select',
    options: [
      { value: '', label: 'no person' },
      ...optionsOf(members),
      ...(left ? [{ value: chosen, label: `${chosen} (not a member)` }] : []),
    ],
    hint: 'On call when no other person is.',
  }
}

function optionsOf(members: readonly Member[]): { value: string; label: string }[] {
  return members.map(({ email, name }) => ({ value: email, label: name === '' ? email : `${name} (${email})` }))
}
