import { PageContents } from '../../components/basics.tsx'
import { CodeBlock, Form } from '../../components/form.tsx'
import { Problem } from '../../components/notice.tsx'
import { FieldForm } from '../../forms/form.tsx'
import type { Context } from '../../shell/context.ts'
import { ExportAndImport } from './import-form.tsx'
import { KeyTable } from './keys.tsx'
import type { SettingsState, SettingsView } from './settings-view.ts'
import { Statements } from './statements.tsx'
import { PublicStatusPage } from './status-page-form.tsx'

interface Props {
  context: Context
  view: SettingsView
}

/** The parts of the page, by the ids of their headings. */
const PARTS = [
  { id: 'name-title', label: 'General' },
  { id: 'keys', label: 'Keys' },
  { id: 'unknown', label: 'Outages on our side' },
  { id: 'statements', label: 'History' },
  { id: 'status-page', label: 'Status page' },
  { id: 'prometheus', label: 'Prometheus' },
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
          <KeyTable context={context} base={view.base} keys={view.keys} newKey={state.newKey} open={view.decryptKey} />
          <UnknownNotices context={context} view={view} />
          <Statements context={context} base={view.base} since={view.statedSince} />
          <PublicStatusPage context={context} view={view} />
          <Prometheus view={view} />
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
            name: 'tell',
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

function Prometheus({ view }: Pick<Props, 'view'>) {
  return (
    <section class="card" aria-labelledby="prometheus">
      <h2 id="prometheus">Prometheus</h2>
      <p class="muted">Scrape this with a read-only key:</p>
      <CodeBlock label="Prometheus configuration" text={view.scrapeConfig} />
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
