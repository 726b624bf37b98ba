import { ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { planLines } from '#shared/monitoring/alerting/plan.ts'
import { policyFor } from '#shared/monitoring/alerting/policy.ts'
import { findPolicy, policiesOf, projectTags, type StoredPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { listResponders, listSchedules } from '#shared/monitoring/on-call/schedule-store.ts'
import { createPolicy, deletePolicy, stepNames, updatePolicy } from '#shared/monitoring/operations/policies.ts'
import { loadPolicyWarnings } from '#shared/monitoring/operations/reachable.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { isUuid } from '#shared/uuid.ts'
import { ButtonForm } from '../../forms/form.tsx'
import { EmptyCard } from '../../lists/empty-card.tsx'
import { PageHead } from '../../lists/list.tsx'
import { personOf } from '../../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'
import { labelOfKind } from '../integrations/labels.ts'
import type { PersonOption } from './people-choice.tsx'
import { PlanTimeline } from './plan-timeline.tsx'
import { readAll } from './policy-errors.ts'
import { PolicyForm } from './policy-form.tsx'
import {
  bodyOfState,
  NEW_POLICY,
  type PolicyFormState,
  stateOfForm,
  stateOfPolicy,
  withHours,
  withoutEmptyHours,
  withoutStep,
  withStep,
} from './policy-state.ts'

export function policyPages(pages: Pages): void {
  pages.get('/projects/:project/policies', showList)
  pages.get('/projects/:project/policies/new', (context) => showForm(context, null, stateOfPolicy(NEW_POLICY)))
  pages.post('/projects/:project/policies/new', (context) => save(context, null))
  pages.get('/projects/:project/policies/:policy', async (context) => {
    const policy = await requirePolicy(context)
    await showForm(context, policy, stateOfPolicy(policy))
  })
  pages.post('/projects/:project/policies/:policy', async (context) => save(context, await requirePolicy(context)))
  pages.post('/projects/:project/policies/:policy/delete', async (context) => {
    const { project, session } = await requireProject(context, 'edit')
    const { uuid } = await requirePolicy(context)
    await deletePolicy(context.deps.db, personOf(context, session), { project, uuid })
    redirect(context, `/projects/${project.uuid}/policies?done=policy-deleted`)
  })
}

async function requirePolicy(context: Context): Promise<StoredPolicy> {
  const { project } = await requireProject(context, 'edit')
  const uuid = context.params.policy ?? ''
  const policy = isUuid(uuid) ? await findPolicy(context.deps.db, project.id, uuid) : null
  if (!policy) throw new NotFoundError('There is no such policy.')
  return policy
}

/** Saves the form, or shows it again with a step more or less or with its errors. */
async function save(context: FormContext, policy: StoredPolicy | null): Promise<void> {
  const { project, session } = await requireProject(context, 'edit')
  const { deps, form } = context
  const sent = stateOfForm(form)
  const changed = changedForm(sent, field(form, 'do'))
  if (changed) return await showForm(context, policy, changed)
  const state = withoutEmptyHours(sent)
  const body = bodyOfState(state)
  const { errors } = readAll(body, await stepNames(deps.db, project))
  if (errors.size > 0) return await showForm(context, policy, state, errors)
  const actor = personOf(context, session)
  try {
    if (policy) await updatePolicy(deps.db, actor, { project, uuid: policy.uuid, body })
    else await createPolicy(deps.db, actor, { project, body })
  } catch (error) {
    if (!(error instanceof ValidationError || error instanceof ForbiddenError)) throw error
    return await showForm(context, policy, state, new Map([['', error.message]]))
  }
  redirect(context, `/projects/${project.uuid}/policies?done=policy-saved`)
}

/** @returns null if the form must be saved */
function changedForm(state: PolicyFormState, wish: string): PolicyFormState | null {
  if (wish === 'draft') return state
  const [, what, index] = /^(add-step|remove-step|add-hours)(?:-(\d))?$/.exec(wish) ?? []
  if (what === undefined) return null
  if (what === 'add-step') return withStep(state)
  return what === 'remove-step' ? withoutStep(state, Number(index)) : withHours(state, Number(index))
}

async function showForm(
  context: Context,
  policy: StoredPolicy | null,
  state: PolicyFormState,
  errors: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  const workspace = await requireProject(context, 'edit')
  const { project } = workspace
  const integrations = await listIntegrations(context.deps.db, project.id)
  const schedules = await listSchedules(context.deps.db, project)
  const members = await listResponders(context.deps.db, [project.organisationId])
  const people: PersonOption[] = [
    ...schedules.map(({ uuid, name }) => ({ target: { schedule: uuid }, label: name, hint: 'on call' })),
    ...members.map(({ email, name }) => ({ target: { person: email }, label: name || email, hint: name && email })),
  ]
  const names = new Map([
    ...integrations.map(({ uuid, name, kind }) => [uuid, name || labelOfKind(kind)] as const),
    ...schedules.map(({ uuid, name }) => [uuid, name] as const),
  ])
  const { plan } = readAll(
    { ...bodyOfState(withoutEmptyHours(state)), name: 'any' },
    await stepNames(context.deps.db, project),
  )
  const name = policy?.name ?? 'New policy'
  const named = plan ? [{ name, plan }] : []
  const warningsOf = await loadPolicyWarnings(context.deps.db, named, project.organisationId, context.deps)
  sendPage(
    context,
    { title: `${name} · ${project.name}`, workspace, project, area: 'policies' },
    <PolicyForm
      context={context}
      base={`/projects/${project.uuid}/policies`}
      policy={policy}
      state={state}
      errors={errors}
      lines={plan && planLines(plan, (uuid) => names.get(uuid) ?? 'a deleted integration')}
      warnings={named.flatMap(warningsOf)}
      integrations={integrations}
      people={people}
    />,
    errors.size === 0 ? 200 : 400,
  )
}

async function showList(context: Context): Promise<void> {
  const workspace = await requireProject(context, 'view')
  const { project } = workspace
  const { db } = context.deps
  const [policies, checks, integrations, schedules] = await Promise.all([
    policiesOf(db, [project.id]),
    projectTags(db, project.id),
    listIntegrations(db, project.id),
    listSchedules(db, project),
  ])
  const counts = Map.groupBy(checks, (check) => policyFor(check, policies)?.id)
  const names = new Map([
    ...integrations.map(({ uuid, name, kind }) => [uuid, name || labelOfKind(kind)] as const),
    ...schedules.map(({ uuid, name }) => [uuid, name] as const),
  ])
  const base = `/projects/${project.uuid}/policies`
  const mayEdit = may(project.role, 'edit')
  sendPage(
    context,
    { title: `Policies · ${project.name}`, workspace, project, area: 'policies' },
    <>
      <PageHead
        title="Policies"
        actions={
          mayEdit
            ? [
                { href: `${base}/new`, label: 'Add policy' },
                { href: `/projects/${project.uuid}/simulator`, label: 'Simulator' },
              ]
            : []
        }
      />
      <p>
        An escalation: whom to notify, when and how often. A check without a policy notifies its integrations of each
        change.
      </p>
      {policies.length === 0 && (
        <EmptyCard title="No policies yet" action={mayEdit && { label: 'Add an escalation', href: `${base}/new` }}>
          <p>
            A policy notifies in steps: for example the team's chat at once, and the person on call after 15 minutes
            unless the incident is acknowledged.
          </p>
        </EmptyCard>
      )}
      {policies.map((policy) => (
        <section class="card" key={policy.uuid} aria-labelledby={`policy-${policy.uuid}`}>
          <div class="card-head">
            <h2 id={`policy-${policy.uuid}`}>
              {mayEdit ? <a href={`${base}/${policy.uuid}`}>{policy.name}</a> : policy.name}
            </h2>
            {mayEdit && (
              <ButtonForm
                context={context}
                action={`${base}/${policy.uuid}/delete`}
                confirm={`Delete the policy ${policy.name}? ${deletedText(counts.get(policy.id)?.length ?? 0)}`}
                yes="Delete policy"
                label="Delete"
                variant="quiet"
                name={`Delete ${policy.name}`}
              />
            )}
          </div>
          <PlanTimeline lines={planLines(policy.plan, (uuid) => names.get(uuid) ?? 'a deleted integration')} />
          <p class="hint">
            {matchText(policy.match)}: {usageText(policy, checks, counts.get(policy.id) ?? [])}
          </p>
        </section>
      ))}
    </>,
  )
}

const checksText = (count: number) => `${count} ${count === 1 ? 'check' : 'checks'}`

type Tagged = Awaited<ReturnType<typeof projectTags>>

/** `1 check. Another policy applies to 2 more checks that match.` */
function usageText(policy: StoredPolicy, checks: Tagged, own: Tagged): string {
  const used = new Set(own)
  const others = checks.filter((check) => {
    return !used.has(check) && policyFor({ tags: check.tags, policyId: null }, [policy]) !== null
  })
  if (others.length === 0) return checksText(own.length)
  const more = others.length === 1 ? '1 more check that matches' : `${others.length} more checks that match`
  return `${checksText(own.length)}. Another policy applies to ${more}.`
}

function deletedText(count: number): string {
  if (count === 0) return 'No check uses it.'
  return `${checksText(count)} will use another policy that matches, or notify on each change.`
}

function matchText(match: string): string {
  if (match.trim() === '') return 'For checks that name it'
  if (match.trim() === '*') return 'For the whole project'
  return `For checks with the ${splitTags(match).length === 1 ? 'tag' : 'tags'} ${match}`
}
