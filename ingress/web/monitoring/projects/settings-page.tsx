import type { Knex } from 'knex'
import { notifiesUnknown } from '#shared/monitoring/projects/changes-store.ts'
import type { MemberProject } from '#shared/monitoring/projects/member-store.ts'
import { statementsSince } from '#shared/monitoring/statements/statement-store.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { FieldForm, Form } from '../../forms/form.tsx'
import { PageContents } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { Problem } from '../../shell/notice.tsx'
import { ExportAndImport, type ImportState } from './import-form.tsx'
import { Statements } from './statements.tsx'

export interface SettingsState {
  problem?: string
  /** a previewed or refused document */
  requested?: ImportState
}

export interface SettingsView {
  uuid: string
  name: string
  base: string
  /** true if coverage gaps with an unknown status notify integrations */
  notifiesUnknown: boolean
  /** first day with a statement in the transparency log; null without statements */
  statedSince: string | null
  mayDelete: boolean
}

export async function loadSettings(db: Knex, project: MemberProject): Promise<SettingsView> {
  const [notifies, statedSince] = await Promise.all([notifiesUnknown(db, project.id), statementsSince(db, project.id)])
  return {
    uuid: project.uuid,
    name: project.name,
    base: `/projects/${project.uuid}`,
    notifiesUnknown: notifies,
    statedSince,
    mayDelete: may(project.role, 'own'),
  }
}

interface Props {
  context: Context
  view: SettingsView
}

const PARTS = [
  { id: 'name-title', label: 'General' },
  { id: 'unknown', label: 'Outages on our side' },
  { id: 'statements', label: 'History' },
  { id: 'export', label: 'Export and import' },
  { id: 'delete', label: 'Delete' },
] as const

export function SettingsPage({ context, view, state }: Props & { state: SettingsState }) {
  return (
    <>
      <h1>Settings of {view.name}</h1>
      <div class="settings-with-list">
        <PageContents parts={PARTS.filter(({ id }) => id !== 'delete' || view.mayDelete)} />
        <div class="settings">
          <Problem text={state.problem} />
          <Name context={context} view={view} />
          <UnknownNotices context={context} view={view} />
          <Statements context={context} base={view.base} since={view.statedSince} />
          <ExportAndImport context={context} base={view.base} requested={state.requested} />
          {view.mayDelete && <Delete context={context} view={view} />}
        </div>
      </div>
    </>
  )
}

function Name({ context, view }: Props) {
  return (
    <section class="card" aria-labelledby="name-title">
      <h2 id="name-title">Name</h2>
      <FieldForm
        context={context}
        action={`${view.base}/settings/name`}
        class="inline-fields"
        items={[{ name: 'name', label: 'Name of the project', value: view.name, isRequired: true, maxLength: 100 }]}
        submit="Save"
      />
      <p class="hint foot">
        Project id <code>{view.uuid}</code>
      </p>
    </section>
  )
}

function UnknownNotices({ context, view }: Props) {
  return (
    <section class="card" aria-labelledby="unknown">
      <h2 id="unknown">Outages on our side</h2>
      <p class="muted">
        A check whose ping was expected during an outage of this service does not go down. If its next ping is more than
        an hour away, one message names it to the integrations that people read. See the{' '}
        <a href={`${view.base}/gaps`}>list of outages</a>.
      </p>
      <FieldForm
        context={context}
        action={`${view.base}/settings/unknown`}
        class="inline-fields"
        items={[
          {
            name: 'notify',
            label: 'Notify integrations of checks that became unknown',
            kind: 'check',
            value: view.notifiesUnknown ? 'on' : '',
          },
        ]}
        submit="Save"
      />
    </section>
  )
}

function Delete({ context, view }: Props) {
  return (
    <section class="card" aria-labelledby="delete">
      <h2 id="delete">Delete the project</h2>
      <p class="muted">Its checks, their logs, its integrations and its keys are gone at once and for good.</p>
      <Form context={context} action={`${view.base}/settings/delete`} class="inline-fields">
        <div class="field">
          <label for="delete-name">Type “{view.name}”</label>
          <input id="delete-name" name="name" autocomplete="off" required />
        </div>
        <button type="submit" class="danger">
          Delete project
        </button>
      </Form>
    </section>
  )
}
