import { changesText, createdText, type MoveInReport } from '#shared/monitoring/move-in/report.ts'
import { FieldForm } from '../../forms/form.tsx'
import { PageHead } from '../../lists/list.tsx'
import type { Context } from '../../shell/context.ts'

interface View {
  base: string
  id: string
  report: MoveInReport
  digest: string
  overwrite: boolean
  problem: string | null
}

/** Entries that are shown of each list. */
const SHOWN = 200

/** The changes that an import would make, and the form that confirms them. */
export function PlanPage({ context, view }: { context: Context; view: View }) {
  const { base, id, report, digest, overwrite, problem } = view
  const { create, update, unchanged, conflicts } = report
  const hasConflicts = conflicts.length > 0
  const address = `${base}/move-in/${id}`
  return (
    <>
      <PageHead title="Plan of the import" />
      <p>
        Nothing is changed yet. Checks: {create.length} new, {update.length} changed, {unchanged} the same,{' '}
        {conflicts.length} in conflict.
      </p>
      <Lists report={report} />
      {conflicts.some(({ changes }) => changes !== undefined) && !overwrite && (
        <p>
          <a href={`${address}?overwrite=1`}>Plan again, and take the source where both changed a setting</a>
        </p>
      )}
      <section class="card" aria-labelledby="confirm">
        <h2 id="confirm">Import</h2>
        <FieldForm
          context={context}
          action={overwrite ? `${address}?overwrite=1` : address}
          problem={problem}
          submit="Import"
          hidden={{ digest }}
          items={[
            ...(hasConflicts
              ? [
                  {
                    name: 'skip_conflicts',
                    label: 'Leave the checks in conflict unchanged',
                    kind: 'check' as const,
                  },
                ]
              : []),
            ...(report.source === 'healthchecks' ? KEY_FIELDS : []),
          ]}
        />
        <p class="hint foot">
          <a href={`${base}/move-in`}>Cancel</a>
        </p>
      </section>
    </>
  )
}

const KEY_FIELDS = [
  {
    summary: 'Keys that shall work here too',
    items: [
      {
        name: 'ping_key',
        label: 'Ping key',
        isMono: true,
        autocomplete: 'off',
        hint: 'Addresses with this key and a slug then continue to work.',
      },
      {
        name: 'kept_api_key',
        label: 'API key',
        kind: 'password' as const,
        autocomplete: 'off',
        hint: 'Existing API clients then continue to work.',
      },
    ],
  },
]

function Lists({ report }: { report: MoveInReport }) {
  const { create, update, kept, conflicts, gone, integrations, configured, notTaken, toDo, addresses } = report
  const parts: [title: string, lines: string[]][] = [
    ['Conflicts', conflicts.map(({ name, reason, changes }) => `${name}: ${reason}${detail(changes)}`)],
    ['New', create.map(createdText)],
    ['Changed', update.map(({ name, changes }) => `${name}: ${changesText(changes)}`)],
    ['Changed here since, kept', kept.map(({ name, changes }) => `${name}: ${Object.keys(changes).join(', ')}`)],
    ['Not in the source any more, kept', gone.map(({ name, id }) => name || id)],
    ['Integrations', configured.map(({ name, kind }) => `${name || kind} (${kind})`)],
    ['Integrations without settings', integrations.map(({ name, kind }) => `${name || kind} (${kind})`)],
    ['Ping addresses that change', addresses.map(({ name, from, to }) => `${name}: ${from} → ${to}`)],
    ['Not taken over', notTaken.map(({ subject, reason }) => `${subject}: ${reason}`)],
    ['To do', toDo],
  ]
  return <>{parts.map(([title, lines]) => lines.length > 0 && <List key={title} title={title} lines={lines} />)}</>
}

function detail(changes: MoveInReport['conflicts'][number]['changes']): string {
  return changes ? `: ${changesText(changes)}` : ''
}

/** Lines after the first are text of a configuration file. */
function Entry({ line }: { line: string }) {
  const [title, ...block] = line.split('\n')
  return (
    <>
      {title}
      {block.length > 0 && <pre>{block.join('\n')}</pre>}
    </>
  )
}

function List({ title, lines }: { title: string; lines: readonly string[] }) {
  const more = lines.length - SHOWN
  return (
    <section class="card">
      <h2>
        {title} ({lines.length})
      </h2>
      <ul class="breakable">
        {lines.slice(0, SHOWN).map((line, index) => (
          <li key={index}>
            <Entry line={line} />
          </li>
        ))}
      </ul>
      {more > 0 && <p class="muted">and {more} more</p>}
    </section>
  )
}
