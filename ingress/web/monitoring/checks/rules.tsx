import type { ComponentChildren } from 'preact'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { SEVERITIES } from '#shared/monitoring/alerting/policy.ts'
import { findPolicy, findRules, policiesOf } from '#shared/monitoring/alerting/policy-store.ts'
import { listShownChecks } from '#shared/monitoring/checks/shown-store.ts'
import { nameOf } from '#shared/monitoring/checks/slug.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { changeRules } from '#shared/monitoring/operations/rules.ts'
import { isUuid } from '#shared/uuid.ts'
import type { FormItem } from '../../forms/fields.tsx'
import { EditForm } from '../../forms/form.tsx'
import { personOf } from '../../shell/audit.ts'
import { Crumb } from '../../shell/basics.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { type CheckWorkspace, requireCheckPage } from '../../shell/workspace.ts'
import { CheckChoice, chosenChecks } from '../choices.tsx'

interface State {
  /** uuid; empty for the policy that matches by tags */
  policy: string
  severity: string
  /** uuids of dependencies */
  checks: readonly string[]
  /** tags of dependencies, separated by spaces */
  parentTags: string
  mode: string
  typed: string
}

export function checkRulesPages(pages: Pages): void {
  pages.get('/checks/:check/rules', async (context) => {
    const workspace = await requireCheckPage(context, 'edit')
    const { policy, severity, parents, parents_mode: mode } = await findRules(context.deps.db, workspace.check.id)
    const checks = parents.flatMap((parent) => ('check' in parent ? [parent.check] : []))
    const tags = parents.flatMap((parent) => ('tag' in parent ? [parent.tag] : []))
    const state = { policy: policy ?? '', severity, checks, parentTags: tags.join(' '), mode, typed: '' }
    await show(context, workspace, state)
  })
  pages.post('/checks/:check/rules', save)
}

async function save(context: FormContext): Promise<void> {
  const workspace = await requireCheckPage(context, 'edit')
  const { deps, form } = context
  const { check, project, session } = workspace
  const state: State = {
    policy: field(form, 'policy'),
    severity: field(form, 'severity'),
    checks: form.getAll('check').slice(0, 100),
    parentTags: field(form, 'parent_tags'),
    mode: field(form, 'mode'),
    typed: field(form, 'add_check'),
  }
  const choice = chosenChecks(state.checks, state.typed, await listShownChecks(deps.db, project.id))
  if ('error' in choice) return await show(context, workspace, state, new Map([['add_check', choice.error]]))
  const parents = [
    ...choice.uuids.map((uuid) => ({ check: uuid })),
    ...[...new Set(splitTags(state.parentTags))].map((tag) => ({ tag })),
  ]
  try {
    const body = { policy: state.policy || null, severity: state.severity, parents, parents_mode: state.mode }
    const own = { project, id: check.id, uuid: check.uuid, body }
    await changeRules(deps.db, personOf(context, session), own, deps)
  } catch (error) {
    const isPolicyDeleted = error instanceof NotFoundError && (await isUnknownPolicy(context, project, state.policy))
    if (!(error instanceof ValidationError || isPolicyDeleted)) throw error
    return await show(context, workspace, state, errorsOf(error))
  }
  redirect(context, `/checks/${check.uuid}?done=check-saved`)
}

/** Distinguishes a deleted policy from a check that was deleted since the form was opened. */
async function isUnknownPolicy(
  { deps }: Context,
  project: CheckWorkspace['project'],
  policy: string,
): Promise<boolean> {
  return policy !== '' && !(isUuid(policy) && (await findPolicy(deps.db, project.id, policy)))
}

function errorsOf(error: Error): ReadonlyMap<string, string> {
  if (error instanceof NotFoundError) return new Map([['policy', 'This policy was deleted.']])
  const [, ring] = /make a cycle: (.*)$/.exec(error.message) ?? []
  if (ring !== undefined) return new Map([['add_check', `It would depend on itself: ${ring}.`]])
  if (/ parents\[\d+\]\.tag /.test(error.message))
    return new Map([['parent_tags', 'A tag has at most 100 characters.']])
  if (/ parents /.test(error.message)) return new Map([['add_check', 'At most 20 checks and tags.']])
  return new Map([['', error.message]])
}

async function show(
  context: Context,
  workspace: CheckWorkspace,
  state: State,
  errors: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  const { check, project } = workspace
  const { db } = context.deps
  const [policies, all] = await Promise.all([policiesOf(db, [project.id]), listShownChecks(db, project.id)])
  sendPage(
    context,
    { title: `Alerts of ${nameOf(check)} · ${project.name}`, workspace, project, area: 'checks' },
    <>
      <Crumb href={`/checks/${check.uuid}`} label={nameOf(check)} />
      <h1>Alerts</h1>
      <EditForm
        context={context}
        action={`/checks/${check.uuid}/rules`}
        errors={errors}
        items={ruleItems(
          policies,
          <CheckChoice
            label="Add a check"
            checks={all.filter(({ uuid }) => uuid !== check.uuid)}
            chosen={state.checks}
            typed={state.typed}
            error={errors.get('add_check')}
            hint="Enter its name. Save to add another one."
          />,
        )}
        values={{ policy: state.policy, severity: state.severity, parent_tags: state.parentTags, mode: state.mode }}
        submit="Save"
        cancel={`/checks/${check.uuid}`}
      />
    </>,
    errors.size === 0 ? 200 : 400,
  )
}

function ruleItems(policies: readonly { uuid: string; name: string }[], parents: ComponentChildren): FormItem[] {
  const policyOptions = [
    { value: '', label: 'The policy that matches by tags' },
    ...policies.map(({ uuid, name }) => ({ value: uuid, label: name })),
  ]
  return [
    {
      legend: 'Alert policy',
      items: [
        {
          class: 'columns',
          items: [
            { name: 'policy', label: 'Policy', kind: 'select', options: policyOptions },
            {
              name: 'severity',
              label: 'Severity',
              kind: 'select',
              options: SEVERITIES.map((severity) => ({ value: severity, label: severity })),
              hint: 'Steps of a policy may be limited to some severities.',
            },
          ],
        },
      ],
    },
    {
      legend: 'What it depends on',
      items: [
        {
          content: (
            <>
              <p class="muted">While a check that it depends on is down, this check sends no alerts.</p>
              {parents}
            </>
          ),
        },
        { name: 'parent_tags', label: 'All checks with the tags', hint: 'Separated by spaces.' },
        {
          name: 'mode',
          label: 'No alerts while',
          kind: 'select',
          options: [
            { value: 'any', label: 'any of them is down' },
            { value: 'all', label: 'all of them are down' },
          ],
        },
      ],
    },
  ]
}
