import { findStatusPage } from '#shared/monitoring/pages/status-page-store.ts'
import type { KeyKind } from '#shared/monitoring/projects/api-key.ts'
import { deleteProject, renameProject } from '#shared/monitoring/projects/changes-store.ts'
import { listProjectKeys } from '#shared/monitoring/projects/store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { CodeBlock, Copyable, Form, TextField } from '../components/form.tsx'
import { Problem } from '../components/notice.tsx'
import { audit } from '../frame/audit.ts'
import { type Context, field, type Pages, redirect } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { openProject } from '../frame/workspace.ts'
import { KeyTable } from './key-table.tsx'

export function projectSettingsPages(pages: Pages): void {
  pages.get('/projects/:project/settings', (context) => showSettings(context, {}))
  pages.post('/projects/:project/settings/name', async (context) => {
    const { project } = await openProject(context, 'manage')
    const name = field(context.form, 'name').slice(0, 100) || project.name
    await renameProject(context.deps.db, project.id, name)
    context.deps.announce({ kind: 'project', projectId: project.id })
    await audit(context, project.organisationId, 'project.renamed', `${project.name} to ${name}`)
    redirect(context, `/projects/${project.uuid}/settings?done=project-saved`)
  })
  pages.post('/projects/:project/settings/delete', async (context) => {
    const { project } = await openProject(context, 'own')
    if (field(context.form, 'name') !== project.name) {
      return await showSettings(context, { problem: 'Type the name of the project to delete it.' }, 400)
    }
    await transaction(context.deps.db, async (tx) => {
      await deleteProject(tx, project.id)
      await audit(context, project.organisationId, 'project.deleted', project.name, tx)
    })
    context.deps.announce({ kind: 'project', projectId: project.id })
    redirect(context, '/projects?done=project-deleted')
  })
}

export interface SettingsState {
  /** a key that was just made: shown this once */
  newKey?: { kind: KeyKind; key: string }
  problem?: string
}

export async function showSettings(context: Context, state: SettingsState, status = 200): Promise<void> {
  const workspace = await openProject(context, 'manage')
  const { project } = workspace
  const { db, config, secrets } = context.deps
  const [keys, page] = await Promise.all([listProjectKeys(db, project.id), findStatusPage(db, project.id)])
  const base = `/projects/${project.uuid}`
  const exampleKey = state.newKey?.kind === 'ro' ? state.newKey.key : 'READ-ONLY-KEY'
  sendPage(
    context,
    { title: `Settings · ${project.name}`, workspace, project, area: 'settings' },
    <>
      <h1>Settings of {project.name}</h1>
      <div class="settings">
        <Problem text={state.problem} />
        <section class="card" aria-labelledby="name-title">
          <h2 id="name-title">Name</h2>
          <Form context={context} action={`${base}/settings/name`} class="inline-fields">
            <TextField label="Name of the project" name="name" value={project.name} required maxLength={100} />
            <button type="submit">Save</button>
          </Form>
          <p class="hint foot">
            Project id <code>{project.uuid}</code>
          </p>
        </section>

        <KeyTable context={context} base={base} keys={keys} newKey={state.newKey} open={secrets.open} />

        <section class="card" aria-labelledby="status-page">
          <h2 id="status-page">Public status page</h2>
          <p class="muted">
            Shows names and states of checks with their last ninety days, to anybody who has its address. Nothing in it
            can ping or change them.
          </p>
          {page && (
            <p class="ping-url">
              <Copyable text={`${config.publicUrl}/status/${page.token}`} label="address of the status page" />
            </p>
          )}
          <Form context={context} action={`${base}/status-page`} class="inline-fields">
            <TextField label="Title" name="title" value={page?.title ?? project.name} required maxLength={100} />
            <TextField
              label="Only checks with one of these tags"
              name="tags"
              value={page?.tags ?? ''}
              maxLength={200}
              placeholder="all checks"
            />
            <button type="submit">{page ? 'Save' : 'Publish'}</button>
          </Form>
          {page && (
            <div class="row foot">
              <a class="button" href={`/status/${page.token}`}>
                Look at it
              </a>
              <Form context={context} action={`${base}/status-page/remove`}>
                <button type="submit" class="danger">
                  Take it down
                </button>
              </Form>
            </div>
          )}
        </section>

        <section class="card" aria-labelledby="prometheus">
          <h2 id="prometheus">Prometheus</h2>
          <p class="muted">Scrape this with a read-only key:</p>
          <CodeBlock
            label="Prometheus configuration"
            text={`scrape_configs:\n  - job_name: checks\n    metrics_path: /projects/${project.uuid}/metrics/${exampleKey}\n    scheme: ${new URL(config.publicUrl).protocol.slice(0, -1)}\n    static_configs:\n      - targets: ['${new URL(config.publicUrl).host}']`}
          />
        </section>

        <section class="card" aria-labelledby="export">
          <h2 id="export">Export and import</h2>
          <p class="muted">
            The checks and integrations of this project as JSON, without secrets and pings. Importing deletes nothing,
            and doing it twice changes nothing.
          </p>
          <p>
            <a class="button" href={`${base}/export`}>
              Export
            </a>
          </p>
          <Form context={context} action={`${base}/import`} class="stack">
            <div class="field">
              <label for="document">JSON of an export, or the API’s list of checks</label>
              <textarea id="document" name="document" rows={4} class="mono" required />
            </div>
            <div>
              <button type="submit">Import</button>
            </div>
          </Form>
        </section>

        {may(project.role, 'own') && (
          <section class="card" aria-labelledby="delete">
            <h2 id="delete">Delete the project</h2>
            <p class="muted">Its checks, their logs, its integrations and its keys are gone at once and for good.</p>
            <Form context={context} action={`${base}/settings/delete`} class="inline-fields">
              <div class="field">
                <label for="delete-name">Type “{project.name}”</label>
                <input id="delete-name" name="name" autocomplete="off" required />
              </div>
              <button type="submit" class="danger">
                Delete project
              </button>
            </Form>
          </section>
        )}
      </div>
    </>,
    status,
  )
}
