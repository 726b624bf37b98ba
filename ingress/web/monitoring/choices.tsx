import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { CheckBox, TextField } from '../forms/inputs.tsx'
import { IntegrationTrouble } from '../shell/basics.tsx'
import { labelOfKind } from './integrations/labels.ts'

/** A check as an option. */
interface Choosable {
  uuid: string
  name: string
}

/** Number of suggested checks: more would make the page heavy, and any name may be typed. */
const OFFERED = 300

/** The chosen checks, as boxes named `check`, and the field `add_check`, which adds one by its name. */
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

/** Returns the uuids of the submitted checks, or the error of the typed name. */
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

/** The integrations of a project as boxes; those that may not notify are labelled. */
export function IntegrationChoice(props: {
  name: string
  channels: readonly StoredIntegration[]
  /** uuids */
  chosen: ReadonlySet<string>
  /** hidden while another option beside it is chosen */
  isDependent?: boolean
}) {
  if (props.channels.length === 0) return <p class="muted">There is no integration in this project yet.</p>
  return (
    <div class={props.isDependent ? 'choices chosen-channels' : 'choices'}>
      {props.channels.map((channel) => (
        <CheckBox
          key={channel.uuid}
          name={props.name}
          value={channel.uuid}
          isChecked={props.chosen.has(channel.uuid)}
          label={
            <>
              {channel.name || labelOfKind(channel.kind)} <small>{labelOfKind(channel.kind)}</small>{' '}
              <IntegrationTrouble channel={channel} />
            </>
          }
        />
      ))}
    </div>
  )
}
