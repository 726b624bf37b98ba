import { nameOf } from '#shared/monitoring/checks/slug.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import type { ArrivedCheck } from '#shared/monitoring/move-in/store.ts'
import { ButtonForm, FieldForm, Form } from '../../forms/form.tsx'
import { SelectField, TextArea } from '../../forms/inputs.tsx'
import { PageHead, Table } from '../../lists/list.tsx'
import type { Context } from '../../shell/context.ts'
import { Problem } from '../../shell/notice.tsx'

interface View {
  base: string
  arrived: readonly ArrivedCheck[]
  publicUrl: string
  /** integrations of an import without settings */
  unconfigured: readonly StoredIntegration[]
  url: string
  problem: string | undefined
  fileProblem: string | undefined
}

const columnsOf = (publicUrl: string) => [
  {
    title: 'Check',
    isHeading: true,
    cell: (check: ArrivedCheck) => <a href={`/checks/${check.uuid}`}>{nameOf(check)}</a>,
  },
  { title: 'Source', cell: ({ source }: ArrivedCheck) => source },
  { title: 'First ping', cell: stateText },
  {
    title: 'Ping address',
    cell: ({ uuid }: ArrivedCheck) => (
      <code class="breakable">
        {publicUrl}/ping/{uuid}
      </code>
    ),
  },
]

function stateText({ isHeard, isWatched, status }: ArrivedCheck): string {
  if (isHeard) return 'received'
  if (status === 'paused') return 'paused'
  if (status === 'down') return 'missed: down'
  return isWatched ? 'expected' : 'not received, not watched'
}

/** Form to read another monitor, and the list of what has arrived from earlier imports. */
export function MoveInPage({ context, view }: { context: Context; view: View }) {
  const { base, url, problem, fileProblem } = view
  return (
    <>
      <PageHead title="Move in" />
      <p class="muted">
        Take over the checks of another monitor. You see a plan first. An import deletes nothing, and importing twice
        changes nothing.
      </p>
      <Arrived context={context} view={view} />
      <section class="card" aria-labelledby="healthchecks">
        <h2 id="healthchecks">From Healthchecks</h2>
        <FieldForm
          context={context}
          action={`${base}/move-in/healthchecks`}
          problem={problem}
          submit="Show the plan"
          items={[
            {
              name: 'url',
              label: 'Address of its pages',
              value: url,
              placeholder: 'https://hc.example.org',
              isRequired: true,
              isMono: true,
            },
            {
              name: 'api_key',
              label: 'Read-write API key',
              kind: 'password',
              autocomplete: 'off',
              isRequired: true,
              hint: 'Used once to read the checks, and not stored.',
            },
          ]}
        />
      </section>
      <section class="card" aria-labelledby="file">
        <h2 id="file">From a file</h2>
        <Problem text={fileProblem} />
        <Form context={context} action={`${base}/move-in/file`} class="stack">
          <SelectField
            label="Source"
            name="source"
            value="cronitor"
            options={[
              { value: 'cronitor', label: 'Cronitor: YAML export' },
              { value: 'uptime-kuma', label: 'Uptime Kuma 1.x: JSON backup' },
            ]}
          />
          <div class="drop-zone" data-drop="document" data-scripted hidden>
            <label for="document-file">Drop a file here, or choose one</label>
            <input type="file" id="document-file" accept=".yaml,.yml,.json" />
          </div>
          <TextArea label="Text of the file" name="document" value="" rows={4} isMono required />
          <div>
            <button type="submit">Show the plan</button>
          </div>
        </Form>
      </section>
      <p class="muted">
        For a crontab, use the command <code>admin import-from crontab</code>; for Uptime Kuma 2.x,{' '}
        <code>admin import-from uptime-kuma --file kuma.db</code>.
      </p>
    </>
  )
}

/** Imported checks and integrations. They are above the forms, because they need the next steps. */
function Arrived({ context, view }: { context: Context; view: View }) {
  const { base, arrived, unconfigured, publicUrl } = view
  const silent = arrived.filter(({ isHeard, isWatched, status }) => status === 'new' && !isHeard && !isWatched)
  return (
    <>
      {arrived.length > 0 && (
        <>
          <h2>Imported checks</h2>
          {silent.length > 0 && (
            <div class="notice">
              <p>
                {silent.length} {silent.length === 1 ? 'check waits' : 'checks wait'} for a first ping and cannot go
                down before it. Start watching when the jobs ping this service.
              </p>
              <ButtonForm context={context} action={`${base}/move-in/start`} label="Start watching" />
            </div>
          )}
          <Table label="Imported checks" columns={columnsOf(publicUrl)} rows={arrived} />
        </>
      )}
      {unconfigured.length > 0 && (
        <section class="card" aria-labelledby="unconfigured">
          <h2 id="unconfigured">Integrations that need settings</h2>
          <p class="muted">The API of Healthchecks hides their settings. They send nothing until you enter these.</p>
          <ul>
            {unconfigured.map(({ uuid, name, kind }) => (
              <li key={uuid}>
                <a href={`/integrations/${uuid}`}>{name || kind}</a> ({kind})
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}
