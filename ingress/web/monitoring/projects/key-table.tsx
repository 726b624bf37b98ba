import { type KeyKind, keyKindNames } from '#shared/monitoring/projects/api-key.ts'
import type { ListedKey } from '#shared/monitoring/projects/store.ts'
import { microsOfDate } from '#shared/time.ts'
import { Copyable, Form, SelectField, TextField } from '../../components/form.tsx'
import { Ago } from '../../components/time.tsx'
import type { Context } from '../../shell/context.ts'

/** The keys of a project, which nobody can read any more, and the new one, this once. */
export function KeyTable(props: {
  context: Context
  base: string
  keys: readonly ListedKey[]
  newKey: { kind: KeyKind; key: string } | undefined
  open: (sealed: string) => string
}) {
  const { context, base, keys, newKey } = props
  const now = context.deps.now()
  return (
    <section class={newKey ? 'card secret-once' : 'card'} aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      {newKey && (
        <div role="status">
          <p>
            The new key. It is <b>not shown again</b>: copy it now.
          </p>
          <p class="ping-url">
            <Copyable text={newKey.key} label="new key" />
          </p>
        </div>
      )}
      {keys.length === 0 ? (
        <p class="muted">None yet. Programs need one to use the management API, and to ping by slug.</p>
      ) : (
        <table class="plain-table stacked">
          <thead>
            <tr>
              <th scope="col">What for</th>
              <th scope="col">Key</th>
              <th scope="col">Made</th>
              <th scope="col">Last used</th>
              <th scope="col">
                <span class="hidden">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.id}>
                <td>
                  {key.name || keyKindNames[key.kind]}
                  {key.name !== '' && <small>{keyKindNames[key.kind]}</small>}
                </td>
                <td class="breakable">
                  {key.sealed !== null ? <code>{props.open(key.sealed)}</code> : <code>{key.prefix}…</code>}
                </td>
                <td>
                  <span class="when-stacked">made</span> <Ago at={microsOfDate(key.createdAt)} now={now} />
                  {key.createdBy !== '' && <small class="breakable">by {key.createdBy}</small>}
                </td>
                <td>
                  <span class="when-stacked">used</span>{' '}
                  {key.lastUsedAt === null ? (
                    <span class="muted">never</span>
                  ) : (
                    <Ago at={microsOfDate(key.lastUsedAt)} now={now} />
                  )}
                </td>
                <td>
                  <Form
                    context={context}
                    action={`${base}/keys/${key.id}/revoke`}
                    confirm={`Revoke the ${keyKindNames[key.kind].toLowerCase()} key ${key.name || `${key.prefix}…`}? What uses it stops working within seconds.`}
                    yes="Revoke"
                  >
                    <button type="submit" class="quiet" aria-label={`Revoke key ${key.prefix}`}>
                      Revoke
                    </button>
                  </Form>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Form context={context} action={`${base}/keys`} class="inline-fields foot">
        <TextField label="What the new key is for" name="key_name" maxLength={100} placeholder="CI" />
        <SelectField
          label="Kind"
          name="kind"
          value="rw"
          options={(['rw', 'ro', 'ping'] as const).map((kind) => ({ value: kind, label: keyKindNames[kind] }))}
        />
        <button type="submit">Create key</button>
      </Form>
    </section>
  )
}
