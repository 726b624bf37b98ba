import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { CodeBlock } from '../../shell/basics.tsx'
import { StatusGlyph } from '../../shell/icons.tsx'

/** Replaces the list of a project without checks. The script loads the list when the first check exists. */
export function NoChecks(props: {
  project: { uuid: string }
  integrations: readonly StoredIntegration[]
  row: { pingBase: string; pingKey: string | null; mayEdit: boolean }
}) {
  const { project, row } = props
  return (
    <section class="card empty-card" data-first-ping aria-labelledby="first-ping">
      <h2 id="first-ping">{row.mayEdit ? 'Send your first ping' : 'No checks yet'}</h2>
      <p>
        A check waits for pings from a job: a backup, a report, a queue. If a ping does not arrive in time, the check
        goes down and its integrations are notified.
      </p>
      {row.pingKey !== null && (
        <>
          <p>Run this command, or add it to the end of a job. Its first ping creates the check.</p>
          <CodeBlock label="First ping" text={`curl '${row.pingBase}/${row.pingKey}/first-check?create=1'`} />
          <p class="row" role="status">
            <StatusGlyph status="new" /> Waiting for your first ping…
          </p>
        </>
      )}
      {row.mayEdit && (
        <>
          <p class="row">
            <a class="button primary" href={`/projects/${project.uuid}/checks/new`}>
              Add the first check
            </a>
            {props.integrations.length === 0 && (
              <a class="button" href={`/projects/${project.uuid}/integrations/new`}>
                Connect an integration
              </a>
            )}
          </p>
          <p class="hint">
            To look around first, run <code>make demo</code>: it adds a project with 60 checks and 90 days of history.
          </p>
        </>
      )}
    </section>
  )
}
