import { randomBytes } from 'node:crypto'
import { NotFoundError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/db.ts'
import { generateKey, type KeyKind, keyPrefix } from '#shared/projects/api-key.ts'
import { insertProjectKey, type ListedKey, revokeProjectKey } from '#shared/projects/store.ts'
import { audit } from '../audit.ts'
import { Copyable, Form } from '../components/form.tsx'
import { Ago } from '../components/time.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../context.ts'
import { openProject } from '../workspace.ts'
import { showSettings } from './settings.tsx'

const kindNames: Readonly<Record<KeyKind, string>> = { rw: 'Read and write', ro: 'Read only', ping: 'Ping' }

export function keyPages(pages: Pages): void {
  pages.post('/projects/:project/keys', createKey)
  pages.post('/projects/:project/keys/:key/revoke', async (context) => {
    const { project } = await openProject(context, 'manage')
    const id = Number(context.params.key)
    const isRevoked = Number.isSafeInteger(id) && (await revokeProjectKey(context.deps.db, project.id, id))
    if (!isRevoked) throw new NotFoundError('There is no such key.')
    context.deps.announce({ kind: 'project', projectId: project.id })
    await audit(context, project.organisationId, 'key.revoked', `${project.name} #${id}`)
    redirect(context, `/projects/${project.uuid}/settings?done=key-revoked`)
  })
}

/** Makes a key and shows it in the answer, which is the only time it can be seen. */
async function createKey(context: FormContext): Promise<void> {
  const { project } = await openProject(context, 'manage')
  const { deps, form } = context
  const kind = (['rw', 'ro', 'ping'] as const).find((one) => one === field(form, 'kind'))
  if (!kind) throw new NotFoundError('There is no such kind of key.')
  const key = generateKey(kind, randomBytes)
  await transaction(deps.db, async (tx) => {
    await insertProjectKey(tx, {
      projectId: project.id,
      kind,
      prefix: keyPrefix(key),
      digest: deps.secrets.digest(key),
      ...(kind === 'ping' && { sealed: deps.secrets.seal(key) }),
    })
    await audit(context, project.organisationId, 'key.created', `${kindNames[kind]} key of ${project.name}`, tx)
  })
  deps.announce({ kind: 'project', projectId: project.id })
  await showSettings(context, { newKey: { kind, key } })
}

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
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Kind</th>
              <th scope="col">Key</th>
              <th scope="col">Last used</th>
              <th scope="col">
                <span class="hidden">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.id}>
                <td>{kindNames[key.kind]}</td>
                <td class="breakable">
                  {key.sealed !== null ? <code>{props.open(key.sealed)}</code> : <code>{key.prefix}…</code>}
                </td>
                <td>
                  {key.lastUsedAt === null ? (
                    <span class="muted">never</span>
                  ) : (
                    <Ago at={key.lastUsedAt.getTime() * 1000} now={now} />
                  )}
                </td>
                <td>
                  <Form
                    context={context}
                    action={`${base}/keys/${key.id}/revoke`}
                    confirm="Revoke this key? What uses it stops working."
                  >
                    <button type="submit" class="danger" aria-label={`Revoke key ${key.prefix}`}>
                      Revoke
                    </button>
                  </Form>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Form context={context} action={`${base}/keys`} class="inline foot">
        {(['rw', 'ro', 'ping'] as const).map((kind) => (
          <button key={kind} type="submit" name="kind" value={kind}>
            Create {kindNames[kind].toLowerCase()} key
          </button>
        ))}
      </Form>
    </section>
  )
}
