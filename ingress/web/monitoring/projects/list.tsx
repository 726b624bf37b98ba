import { NotFoundError } from '#shared/errors.ts'
import { createProject } from '#shared/monitoring/operations/projects.ts'
import { countByProject } from '#shared/monitoring/projects/changes-store.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { Form } from '../../forms/form.tsx'
import { TextField } from '../../forms/inputs.tsx'
import { personOf } from '../../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { StatusGlyph } from '../../shell/icons.tsx'
import { sendPage } from '../../shell/layout.tsx'
import { requireRight, signedIn } from '../../shell/workspace.ts'

export function projectListPages(pages: Pages): void {
  pages.get('/', async (context) => {
    const { projects } = await signedIn(context)
    const [only, another] = projects
    redirect(context, only && !another ? `/projects/${only.uuid}/checks` : '/projects')
  })
  pages.get('/projects', showProjects)
  pages.post('/projects', create)
}

async function showProjects(context: Context): Promise<void> {
  const workspace = await signedIn(context)
  const counts = await countByProject(
    context.deps.db,
    workspace.projects.map(({ id }) => id),
  )
  const makers = workspace.memberships.filter(({ role }) => may(role, 'manage'))
  const isDown = counts.some(({ down }) => down > 0)
  sendPage(
    context,
    { title: 'Projects', workspace, area: 'projects', isDown },
    <>
      <h1>Projects</h1>
      {workspace.memberships.length === 0 && (
        <p class="empty">You do not belong to an organisation yet. Ask a member for an invitation.</p>
      )}
      {workspace.memberships.map((organisation) => {
        const own = workspace.projects.filter((project) => project.organisationId === organisation.organisationId)
        return (
          <section key={organisation.organisationUuid} aria-label={organisation.organisationName}>
            <h2>
              {organisation.organisationName} <span class="pill">{organisation.role}</span>
            </h2>
            <ul class="project-list">
              {own.map((project) => {
                const count = counts.find(({ projectId }) => projectId === project.id)
                return (
                  <li key={project.uuid} class="card">
                    <StatusGlyph status={(count?.down ?? 0) > 0 ? 'down' : (count?.checks ?? 0) > 0 ? 'up' : 'new'} />
                    <span>
                      <a class="stretched" href={`/projects/${project.uuid}/checks`}>
                        {project.name}
                      </a>
                      <small>
                        {count?.checks ?? 0} {count?.checks === 1 ? 'check' : 'checks'}
                        {(count?.down ?? 0) > 0 && `, ${count?.down} down`}
                      </small>
                    </span>
                  </li>
                )
              })}
              {own.length === 0 && <li class="muted">No project yet.</li>}
            </ul>
          </section>
        )
      })}
      {makers.length > 0 && (
        <section class="card" aria-labelledby="new-project">
          <h2 id="new-project">New project</h2>
          <Form context={context} action="/projects" class="inline-fields form-wide">
            <TextField label="Name" name="name" required maxLength={100} />
            {makers.length > 1 ? (
              <div class="field">
                <label for="organisation">Organisation</label>
                <select id="organisation" name="organisation">
                  {makers.map((one) => (
                    <option key={one.organisationUuid} value={one.organisationUuid}>
                      {one.organisationName}
                    </option>
                  ))}
                </select>
              </div>
            ) : (
              <input type="hidden" name="organisation" value={makers[0]?.organisationUuid} />
            )}
            <button type="submit">Create project</button>
          </Form>
        </section>
      )}
    </>,
  )
}

async function create(context: FormContext): Promise<void> {
  const workspace = await signedIn(context)
  const organisation = workspace.memberships.find(
    ({ organisationUuid }) => organisationUuid === field(context.form, 'organisation'),
  )
  if (!organisation) throw new NotFoundError('There is no such organisation, or you do not belong to it.')
  await requireRight(context, workspace, organisation, 'manage')
  const name = field(context.form, 'name').slice(0, 100) || 'Project'
  const input = { name, owner: { organisationId: organisation.organisationId } }
  const project = await createProject(context.deps.db, personOf(context, workspace.session), input, context.deps)
  redirect(context, `/projects/${project.uuid}/checks?done=project-created`)
}
