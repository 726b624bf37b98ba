import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { planInWords } from '#shared/monitoring/alerting/plan-words.ts'
import { policyFor } from '#shared/monitoring/alerting/policy.ts'
import { findPolicy, policiesOf, projectTags, type StoredPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { policyView } from '#shared/monitoring/alerting/policy-view.ts'
import { type JsonObject, parseJsonBody } from '#shared/monitoring/checks/json-body.ts'
import { createPolicy } from '#shared/monitoring/operations/create-policy.ts'
import { deletePolicy } from '#shared/monitoring/operations/delete-policy.ts'
import { namedChannels } from '#shared/monitoring/operations/named-channels.ts'
import { updatePolicy } from '#shared/monitoring/operations/update-policy.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { isUuid } from '#shared/uuid.ts'
import { Form } from '../components/form.tsx'
import { personOf } from '../frame/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { openProject } from '../frame/workspace.ts'
import { PolicyForm } from './policy-form.tsx'

const NEW_PLAN = { steps: [{ wait: 0, repeat: { every: 3600 } }] }

export function policyPages(pages: Pages): void {
  pages.get('/projects/:project/policies', showList)
  pages.get('/projects/:project/policies/new', (context) =>
    showForm(context, null, { name: '', match: '', position: '0', plan: JSON.stringify(NEW_PLAN, null, 2) }),
  )
  pages.post('/projects/:project/policies/new', (context) => save(context, null))
  pages.get('/projects/:project/policies/:policy', async (context) => {
    const policy = await openPolicy(context)
    const { name, match, position, id: _, ...plan } = policyView(policy)
    await showForm(context, policy, { name, match, position: String(position), plan: JSON.stringify(plan, null, 2) })
  })
  pages.post('/projects/:project/policies/:policy', async (context) => save(context, await openPolicy(context)))
  pages.post('/projects/:project/policies/:policy/delete', async (context) => {
    const { project, session } = await openProject(context, 'edit')
    const { uuid } = await openPolicy(context)
    await deletePolicy(context.deps.db, personOf(context, session), { project, uuid })
    redirect(context, `/projects/${project.uuid}/policies?done=policy-deleted`)
  })
}

async function openPolicy(context: Context): Promise<StoredPolicy> {
  const { project } = await openProject(context, 'edit')
  const uuid = context.params.policy ?? ''
  const policy = isUuid(uuid) ? await findPolicy(context.deps.db, project.id, uuid) : null
  if (!policy) throw new NotFoundError('There is no such policy.')
  return policy
}

async function save(context: FormContext, policy: StoredPolicy | null): Promise<void> {
  const { project, session } = await openProject(context, 'edit')
  const { deps, form } = context
  const typed = {
    name: field(form, 'name'),
    match: field(form, 'match'),
    position: field(form, 'position'),
    plan: field(form, 'plan'),
  }
  const actor = personOf(context, session)
  try {
    const body = bodyOf(typed)
    if (policy) await updatePolicy(deps.db, actor, { project, uuid: policy.uuid, body })
    else await createPolicy(deps.db, actor, { project, body })
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    return await showForm(context, policy, typed, error.message)
  }
  redirect(context, `/projects/${project.uuid}/policies?done=policy-saved`)
}

interface Typed {
  name: string
  match: string
  position: string
  plan: string
}

/** The form as a request of the API. @throws ValidationError */
function bodyOf({ name, match, position, plan }: Typed): JsonObject {
  const parsed = parseJsonBody(Buffer.from(plan, 'utf8'))
  if (!parsed.ok) throw new ValidationError('The plan is not JSON.')
  return { ...parsed.body, name, match, position: /^\d{1,6}$/.test(position) ? Number(position) : position }
}

async function showForm(context: Context, policy: StoredPolicy | null, typed: Typed, problem?: string): Promise<void> {
  const workspace = await openProject(context, 'edit')
  const { project } = workspace
  const channels = await namedChannels(context.deps.db, project.id)
  sendPage(
    context,
    { title: `${policy?.name ?? 'New policy'} · ${project.name}`, workspace, project, area: 'policies' },
    <PolicyForm
      context={context}
      base={`/projects/${project.uuid}/policies`}
      policy={policy}
      typed={typed}
      channels={channels}
      problem={problem}
    />,
    problem === undefined ? 200 : 400,
  )
}

async function showList(context: Context): Promise<void> {
  const workspace = await openProject(context, 'view')
  const { project } = workspace
  const { db } = context.deps
  const [policies, checks, channels] = await Promise.all([
    policiesOf(db, [project.id]),
    projectTags(db, project.id),
    namedChannels(db, project.id),
  ])
  const counts = Map.groupBy(checks, (check) => policyFor(check, policies)?.id)
  const names = new Map(channels.map(({ id, name }) => [id, name || 'an integration without a name']))
  const base = `/projects/${project.uuid}/policies`
  const mayEdit = may(project.role, 'edit')
  sendPage(
    context,
    { title: `Policies · ${project.name}`, workspace, project, area: 'policies' },
    <>
      <div class="page-head">
        <h1>Policies</h1>
        {mayEdit && (
          <a class="button primary" href={`${base}/new`}>
            Add policy
          </a>
        )}
      </div>
      <p>Whom to tell, when, how often, until when. A check without a policy tells its integrations of each change.</p>
      {policies.map((policy) => (
        <section class="card" key={policy.uuid} aria-labelledby={`policy-${policy.uuid}`}>
          <h2 id={`policy-${policy.uuid}`}>
            {mayEdit ? <a href={`${base}/${policy.uuid}`}>{policy.name}</a> : policy.name}
          </h2>
          <p>{planInWords(policy.plan, (uuid) => names.get(uuid) ?? 'a deleted integration')}</p>
          <p class="hint">
            {matchInWords(policy.match)}: {counts.get(policy.id)?.length ?? 0} checks
          </p>
          {mayEdit && (
            <Form
              context={context}
              action={`${base}/${policy.uuid}/delete`}
              confirm={`Delete the policy ${policy.name}?`}
            >
              <button type="submit">Delete</button>
            </Form>
          )}
        </section>
      ))}
    </>,
  )
}

function matchInWords(match: string): string {
  if (match.trim() === '') return 'For checks that name it'
  return match.trim() === '*' ? 'For the whole project' : `For checks with the tags ${match}`
}
