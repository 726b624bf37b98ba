import { NotFoundError } from '#shared/errors.ts'
import { createKey, revokeKey, rotateKey } from '#shared/monitoring/operations/keys.ts'
import { type KeyKind, keyKindNames } from '#shared/monitoring/projects/api-key.ts'
import { type ListedKey, listProjectKeys } from '#shared/monitoring/projects/store.ts'
import { type Micros, microsOfDate } from '#shared/time.ts'
import { ButtonForm, FieldForm } from '../../forms/form.tsx'
import { type Column, PlainTable } from '../../lists/list.tsx'
import { personOf } from '../../shell/audit.ts'
import { Ago, CodeBlock, Copyable } from '../../shell/basics.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { sendPage } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'

/** Keys of a project, with the configuration that needs one. */
export function keyPages(pages: Pages): void {
  pages.get('/projects/:project/keys', showKeys)
  pages.post('/projects/:project/keys', create)
  pages.post('/projects/:project/keys/:key/rotate', rotate)
  pages.post('/projects/:project/keys/:key/revoke', async (context) => {
    const { project, session } = await requireProject(context, 'manage')
    const { deps, params } = context
    await revokeKey(deps.db, personOf(context, session), { project, keyId: Number(params.key) }, deps)
    redirect(context, `/projects/${project.uuid}/keys?done=key-revoked`)
  })
}

/** The next page shows the new key once. */
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
  showOnce(context, project, { key, about: kind })
}

/** The next page shows the new key once, and names the old one. */
async function rotate(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'manage')
  const { deps, params } = context
  const keyId = Number(params.key)
  const { kind, key } = await rotateKey(deps.db, personOf(context, session), { project, keyId }, deps)
  showOnce(context, project, { key, about: `${kind} ${keyId}` })
}

function showOnce(context: Context, project: { uuid: string }, { key, about }: { key: string; about: string }): void {
  const path = `/projects/${project.uuid}/keys`
  setFlash(context, path, { secret: key, about })
  redirect(context, path)
}

async function showKeys(context: Context): Promise<void> {
  const workspace = await requireProject(context, 'manage')
  const { project } = workspace
  const { db, secrets, config } = context.deps
  const keys = await listProjectKeys(db, project.id)
  const { secret: key, about = '' } = context.flash
  const [flashed, oldId] = about.split(' ')
  const kind = (['rw', 'ro', 'ping'] as const).find((one) => one === flashed)
  const old = keys.find(({ id }) => id === Number(oldId))
  const newKey = key !== undefined && kind ? { kind, key, old } : undefined
  const readOnlyKey = newKey?.kind === 'ro' ? newKey.key : 'READ-ONLY-KEY'
  sendPage(
    context,
    { title: `Keys · ${project.name}`, workspace, project, area: 'keys' },
    <>
      <h1>Keys</h1>
      <p class="muted">
        Programs use a read-write or read-only key for the management API, and a ping key to ping checks by their slugs.
        Rotate creates a new key with the same purpose and type; the old key works until you revoke it.
      </p>
      <KeyTable
        context={context}
        base={`/projects/${project.uuid}`}
        keys={keys}
        newKey={newKey}
        open={(sealed) => secrets.open('ping-key', sealed)}
      />
      <section class="card" aria-labelledby="prometheus">
        <h2 id="prometheus">Prometheus</h2>
        <p class="muted">Scrape the metrics of this project with a read-only key:</p>
        <CodeBlock label="Prometheus configuration" text={scrapeConfig(project.uuid, readOnlyKey, config.publicUrl)} />
      </section>
    </>,
  )
}

function scrapeConfig(projectUuid: string, key: string, publicUrl: string): string {
  const { protocol, host, pathname } = new URL(publicUrl)
  const path = `${pathname.replace(/\/$/, '')}/projects/${projectUuid}/metrics/`
  return `scrape_configs:\n  - job_name: checks\n    metrics_path: ${path}\n    authorization: { credentials: ${key} }\n    scheme: ${protocol.slice(0, -1)}\n    static_configs:\n      - targets: ['${host}']`
}

const KINDS = (['rw', 'ro', 'ping'] as const).map((kind) => ({ value: kind, label: keyKindNames[kind] }))

interface KeyTableProps {
  context: Context
  base: string
  keys: readonly ListedKey[]
  /** `old` is the key that a rotation replaced */
  newKey: { kind: KeyKind; key: string; old: ListedKey | undefined } | undefined
  open: (sealed: string) => string
}

/** Shows keys by their prefixes, and a new key in full, once. */
function KeyTable(props: KeyTableProps) {
  const { context, base, keys, newKey } = props
  const now = context.deps.now()
  return (
    <section class={newKey ? 'card secret-once' : 'card'} aria-label="Keys of this project">
      {newKey && (
        <div role="status">
          <p>
            The new key. It is <b>not shown again</b>: copy it now.
          </p>
          <p class="ping-url">
            <Copyable text={newKey.key} label="new key" />
          </p>
          {newKey.old && (
            <p>
              The old key <code>{newKey.old.prefix}…</code> <b>still works</b>. Use the new key in your programs. When
              “Last used” of the old key no longer changes, revoke it.
            </p>
          )}
        </div>
      )}
      {keys.length === 0 ? (
        <p class="muted">None yet. Programs need one to use the management API, and to ping by slug.</p>
      ) : (
        <PlainTable variant="stacked" columns={keyColumns(props, now)} rows={keys} />
      )}
      <FieldForm
        context={context}
        action={`${base}/keys`}
        class="inline-fields foot"
        items={[
          { name: 'key_name', label: 'Purpose of the new key', maxLength: 100, placeholder: 'CI' },
          { name: 'kind', label: 'Type', kind: 'select', value: 'rw', options: KINDS },
        ]}
        submit="Create key"
      />
    </section>
  )
}

function keyColumns({ context, base, open }: KeyTableProps, now: Micros): Column<ListedKey>[] {
  return [
    {
      title: 'Purpose',
      cell: ({ name, kind, replacedAt }) => (
        <>
          {name || keyKindNames[kind]}
          {replacedAt !== null && (
            <>
              {' '}
              <span class="pill">old, still works</span>
            </>
          )}
          {name !== '' && <small>{keyKindNames[kind]}</small>}
        </>
      ),
    },
    {
      title: 'Key',
      variant: 'breakable',
      cell: ({ sealed, prefix }) => <code>{sealed === null ? `${prefix}…` : open(sealed)}</code>,
    },
    {
      title: 'Created',
      cell: ({ createdAt, createdBy, replacedAt }) => (
        <>
          <span class="when-stacked">created</span> <Ago at={microsOfDate(createdAt)} now={now} />
          {createdBy !== '' && <small class="breakable">by {createdBy}</small>}
          {replacedAt !== null && (
            <small>
              replaced <Ago at={microsOfDate(replacedAt)} now={now} />
            </small>
          )}
        </>
      ),
    },
    {
      title: 'Last used',
      cell: ({ lastUsedAt }) => (
        <>
          <span class="when-stacked">used</span>{' '}
          {lastUsedAt === null ? <span class="muted">never</span> : <Ago at={microsOfDate(lastUsedAt)} now={now} />}
        </>
      ),
    },
    {
      title: 'Actions',
      isTitleHidden: true,
      cell: ({ id, kind, name, prefix, replacedAt }) => (
        <div class="row">
          {replacedAt === null && (
            <ButtonForm
              context={context}
              action={`${base}/keys/${id}/rotate`}
              label="Rotate"
              variant="quiet"
              name={`Rotate key ${prefix}`}
            />
          )}
          <ButtonForm
            context={context}
            action={`${base}/keys/${id}/revoke`}
            confirm={`Revoke the ${keyKindNames[kind].toLowerCase()} key ${name ? `${name} (${prefix}…)` : `${prefix}…`}? Clients that use it stop working within seconds.`}
            yes="Revoke"
            label="Revoke"
            variant="quiet"
            name={`Revoke key ${prefix}`}
          />
        </div>
      ),
    },
  ]
}
