import { settingLabel } from '#shared/monitoring/checks/change-labels.ts'
import type { ImportReport, ObjectChanges } from '#shared/monitoring/projects/config-document.ts'
import { Form } from '../../forms/form.tsx'
import { TextArea } from '../../forms/inputs.tsx'
import type { Context } from '../../shell/context.ts'

/** Maximum names per list; a document may contain a thousand. */
const SHOWN = 20

/** A previewed or refused document, which stays in the form. */
export interface ImportState {
  document: string
  /** null if the document was refused */
  report: ImportReport | null
}

/** @param props.base address of the project's pages */
export function ExportAndImport(props: { context: Context; base: string; requested: ImportState | undefined }) {
  const { context, base, requested } = props
  return (
    <section class="card" aria-labelledby="export">
      <h2 id="export">Export and import</h2>
      <p class="muted">
        The checks and integrations of this project as JSON, without secrets and pings. Importing deletes nothing, and
        doing it twice changes nothing. To take over checks from another monitor, use{' '}
        <a href={`${base}/move-in`}>Move in</a>.
      </p>
      <p>
        <a class="button" href={`${base}/export`}>
          Export
        </a>
      </p>
      {requested?.report && <Preview report={requested.report} />}
      <Form context={context} action={`${base}/import`} class="stack">
        <div class="drop-zone" data-drop="document" data-scripted hidden>
          <label for="document-file">Drop a file here, or choose one</label>
          <input type="file" id="document-file" accept=".json,application/json" />
        </div>
        <TextArea
          label="JSON of an export, or the API’s list of checks"
          name="document"
          value={requested?.document ?? ''}
          rows={4}
          isMono
          required
        />
        <span class="row">
          <button type="submit" name="do" value="import">
            Import
          </button>
          <button type="submit" name="do" value="preview">
            Show what it would do
          </button>
        </span>
      </Form>
    </section>
  )
}

function Preview({ report }: { report: ImportReport }) {
  const parts = [
    { what: 'Checks', changes: report.checks },
    { what: 'Integrations', changes: report.channels },
    { what: 'Policies', changes: report.policies },
    { what: 'Maintenance', changes: report.windows },
  ]
  return (
    <div class="notice" role="status">
      <p>An import would do this: {reportText(report)}.</p>
      {parts.map(({ what, changes }) => changes && <Changes key={what} what={what} changes={changes} />)}
      {report.unknownIntegrations.length > 0 && (
        <p>Unknown integrations, which are not assigned: {listed(report.unknownIntegrations)}.</p>
      )}
    </div>
  )
}

function Changes({ what, changes: { create, update } }: { what: string; changes: ObjectChanges }) {
  const changed = update.map(({ name, changes }) => {
    const words = new Set(Object.keys(changes).map(settingLabel))
    return `${name || 'unnamed'} (${[...words].join(', ')})`
  })
  return (
    <>
      {create.length > 0 && (
        <p class="breakable">
          {what} that are new: {listed(create.map(({ name }) => name || 'unnamed'))}
        </p>
      )}
      {changed.length > 0 && (
        <p class="breakable">
          {what} that change: {listed(changed)}
        </p>
      )}
    </>
  )
}

function listed(names: readonly string[]): string {
  const more = names.length - SHOWN
  return names.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** `checks 0 created, 1 changed, 61 the same; integrations 0 created, 0 changed, 2 the same` */
export function reportText({ checks, channels: integrations }: ImportReport): string {
  const counted = ({ create, update, unchanged }: ObjectChanges) =>
    `${create.length} created, ${update.length} changed, ${unchanged} the same`
  return `checks ${counted(checks)}; integrations ${counted(integrations)}`
}
