import { NotFoundError } from '#shared/errors.ts'
import { createKey, revokeKey } from '#shared/monitoring/operations/keys.ts'
import { type KeyKind, keyKindNames } from '#shared/monitoring/projects/api-key.ts'
import type { ListedKey } from '#shared/monitoring/projects/store.ts'
import { microsOfDate } from '#shared/time.ts'
import { Ago } from '../../components/basics.tsx'
import { Copyable, Form, SelectField, TextField } from '../../components/form.tsx'
import { personOf } from '../../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { requireProject } from '../../shell/workspace.ts'

export function keyPages(pages: Pages): void {
  pages.post('/projects/:project/keys', create)
  pages.post('/projects/:project/keys/:key/revoke', async (context) => {
    const { project, session } = await requireProject(context, 'manage')
    const { deps, params } = context
    await revokeKey(deps.db, personOf(context, session), { project, keyId: Number(params.key) }, deps)
    redirect(context, `/projects/${project.uuid}/settings?done=key-revoked`)
  })
}

/** Makes a key, which the next page shows once. */
async function create(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'manage')
  const { deps, form } = context
  const kind = (['rw', 'ro', 'ping'] as const).find((one) => one === field(form, 'kind'))
  if (!kind) throw new NotFoundError('There is no such kind of key.')
  const key = await createKey(
    deps.db,
    personOf(context, session),
    { project, kind, name: field(form, 'key_name') },
    deps,
  )
  const path = `/projects/${project.uuid}/settings`
  setFlash(context, path, { secret: key, about: kind })
  redirect(context, `${path}#keys`)
}

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
