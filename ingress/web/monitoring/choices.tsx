import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { CheckBox, TextField } from '../forms/inputs.tsx'
import { IntegrationTrouble } from '../shell/basics.tsx'
import { labelOfKind } from './integrations/labels.ts'

interface Choosable {
  uuid: string
  name: string
}

/** Limits suggestions, because more make the page heavy; the user may type any name. */
const OFFERED = 300

/** The boxes are named `check`; the field `add_check` adds a check by its name. */
export function CheckChoice(props: {
  label: string
  hint?: string
  checks: readonly Choosable[]
  chosen: readonly string[]
  typed: string | undefined
  error: string | undefined
}) {
  const byUuid = new Map(props.checks.map((check) => [check.uuid, check]))
  const chosen = [...new Set(props.chosen)].flatMap((uuid) => byUuid.get(uuid) ?? [])
  return (
    <>
      {chosen.length > 0 && (
        <div class="choices">
          {chosen.map((check) => (
            <CheckBox
              key={check.uuid}
              name="check"
              value={check.uuid}
              isChecked
              label={check.name || 'A check without a name'}
            />
          ))}
        </div>
      )}
      <TextField
        label={props.label}
        name="add_check"
        value={props.typed}
        error={props.error}
        hint={props.hint}
        list="checks"
      />
      <datalist id="checks">
        {props.checks.slice(0, OFFERED).map(({ uuid, name }) => (
          <option key={uuid} value={name || uuid} />
        ))}
      </datalist>
    </>
  )
}

export function chosenChecks(
  chosen: readonly string[],
  typed: string,
  checks: readonly Choosable[],
): { uuids: string[] } | { error: string } {
  const own = new Set(checks.map(({ uuid }) => uuid))
  const kept = chosen.filter((uuid) => own.has(uuid))
  if (typed === '') return { uuids: [...new Set(kept)] }
  const named = checks.filter(({ uuid, name }) => uuid === typed || name === typed)
  if (named.length > 1) return { error: 'Several checks have this name: put the id of one here.' }
  const [added] = named
  return added ? { uuids: [...new Set([...kept, added.uuid])] } : { error: 'There is no check with this name.' }
}

/** Labels integrations that may not notify. */
export function IntegrationChoice(props: {
  name: string
  integrations: readonly StoredIntegration[]
  chosen: ReadonlySet<string>
  /** hides the boxes while another option is chosen */
  isDependent?: boolean
}) {
  if (props.integrations.length === 0) return <p class="muted">There is no integration in this project yet.</p>
  return (
    <div class={props.isDependent ? 'choices chosen-integrations' : 'choices'}>
      {props.integrations.map((integration) => (
        <CheckBox
          key={integration.uuid}
          name={props.name}
          value={integration.uuid}
          isChecked={props.chosen.has(integration.uuid)}
          label={
            <>
              {integration.name || labelOfKind(integration.kind)} <small>{labelOfKind(integration.kind)}</small>{' '}
              <IntegrationTrouble integration={integration} />
            </>
          }
        />
      ))}
    </div>
  )
}
