import { planInWords } from '#shared/monitoring/alerting/plan-words.ts'
import type { StoredPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import type { NamedChannel } from '#shared/monitoring/checks/channels-field.ts'
import { Form, TextField } from '../components/form.tsx'
import type { Context } from '../frame/context.ts'

interface Props {
  context: Context
  /** path of the list */
  base: string
  policy: StoredPolicy | null
  typed: { name: string; match: string; position: string; plan: string }
  channels: readonly NamedChannel[]
  problem: string | undefined
}

/** A policy to be filled in; the plan is what the API takes, and shown in words once it is saved. */
export function PolicyForm({ context, base, policy, typed, channels, problem }: Props) {
  const names = new Map(channels.map(({ id, name }) => [id, name || id]))
  return (
    <>
      <p class="crumb">
        <a href={base}>Policies</a>
      </p>
      <h1>{policy?.name ?? 'New policy'}</h1>
      {policy && <p class="sentence">{planInWords(policy.plan, (uuid) => names.get(uuid) ?? uuid)}</p>}
      {problem !== undefined && (
        <p class="notice wrong" role="alert">
          {problem}
        </p>
      )}
      <Form context={context} action={policy ? `${base}/${policy.uuid}` : `${base}/new`}>
        <TextField label="Name" name="name" value={typed.name} required maxLength={100} />
        <TextField
          label="For checks with the tags"
          name="match"
          value={typed.match}
          maxLength={500}
          hint="All of them, separated by spaces; * for the whole project; empty for checks that name the policy."
        />
        <TextField
          label="Position"
          name="position"
          value={typed.position}
          hint="Of several policies that fit by tags the one with the lowest position applies."
        />
        <div class="field">
          <label for="plan">Plan</label>
          <textarea id="plan" name="plan" rows={16} class="mono" aria-describedby="plan-hint">
            {typed.plan}
          </textarea>
          <p class="hint" id="plan-hint">
            As the API takes it: `when`, `steps`, `group`, `flapping`, `ack_timeout`. Waits are seconds after the step
            before. Integrations go by name:{' '}
            {channels
              .map(({ name }) => name)
              .filter((name) => name !== '')
              .join(', ') || 'none yet'}
            .
          </p>
        </div>
        <button type="submit" class="primary">
          Save
        </button>
      </Form>
    </>
  )
}
