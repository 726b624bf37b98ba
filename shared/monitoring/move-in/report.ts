import { createHash } from 'node:crypto'
import { formatPeriod } from '../notifications/text-parts.ts'
import type { SettingChanges } from '../projects/config-document.ts'
import type { ImportedIntegration, Note, Source } from './imported.ts'

/** When a check expects pings, as the API describes it: `timeout`, or `schedule` with `tz`; seconds. */
interface Schedule {
  timeout?: number
  schedule?: string
  tz?: string
  grace: number
}

interface Named {
  id: string
  name: string
}

/** A plan of an import from another monitor, or its result. */
export interface MoveInReport {
  source: Source
  /** false for a plan, and if conflicts prevented the import */
  applied: boolean
  create: (Named & Schedule & { paused: boolean })[]
  update: (Named & { changes: SettingChanges })[]
  unchanged: number
  /** changed here since the last import and not in the source */
  kept: (Named & { changes: SettingChanges })[]
  conflicts: (Named & { reason: string; changes?: SettingChanges })[]
  /** imported before, but not in the source any more; they stay */
  gone: Named[]
  /** created without settings, so that they send nothing until they are configured */
  integrations: ImportedIntegration[]
  /** get their settings from the source */
  configured: ImportedIntegration[]
  notTaken: Note[]
  toDo: string[]
  /** ping addresses whose path changes */
  addresses: { name: string; from: string; to: string }[]
}

/** Returns the plan as lines of text. `isRequested` is true if it was to be applied. */
export function reportLines(report: MoveInReport, isRequested = false): string[] {
  const { create, update, unchanged, kept, conflicts, gone, notTaken, toDo, addresses } = report
  const integrationsText = (list: readonly ImportedIntegration[]) =>
    list.map(({ id, kind, name }) => `${id} ${kind} ${name}`.trimEnd())
  const sections: [string, string[]][] = [
    ['Create', create.map((check) => `${check.id} ${createdText(check)}`)],
    ['Update', update.map(({ id, name, changes }) => `${id} ${name}: ${changesText(changes)}`)],
    [
      'Changed here since, kept',
      kept.map(({ id, name, changes }) => `${id} ${name}: ${Object.keys(changes).join(', ')}`),
    ],
    [
      'Conflicts',
      conflicts.map(({ id, name, reason, changes }) =>
        [`${id} ${name}: ${reason}`, ...(changes ? [changesText(changes)] : [])].join(': '),
      ),
    ],
    ['Not in the source any more, kept', gone.map(({ id, name }) => `${id} ${name}`)],
    ['Integrations', integrationsText(report.configured)],
    ['Integrations without settings', integrationsText(report.integrations)],
    ['Not taken', notTaken.map(({ subject, reason }) => `${subject}: ${reason}`)],
    ['Ping addresses', addresses.map(({ name, from, to }) => `${name}: ${from} -> ${to}`)],
    ['To do', toDo],
  ]
  const count = `checks: ${create.length} new, ${update.length} changed, ${unchanged} the same, ${conflicts.length} in conflict`
  return [
    ...(isRequested && !report.applied ? [refusal(conflicts)] : []),
    report.applied ? `Applied: ${count}` : `Plan, nothing is changed: ${count}`,
    ...sections.flatMap(([title, lines]) =>
      lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line.replaceAll('\n', '\n    ')}`)],
    ),
  ]
}

/** `Backup: 15 3 * * * America/New_York + 30 minutes (paused)` */
export function createdText({ name, paused, timeout, schedule, tz, grace }: MoveInReport['create'][number]): string {
  const when = schedule === undefined ? `every ${formatPeriod(timeout ?? 0)}` : `${schedule} ${tz ?? 'UTC'}`
  return `${name}: ${when} + ${formatPeriod(grace)}${paused ? ' (paused)' : ''}`
}

function refusal(conflicts: MoveInReport['conflicts']): string {
  const count = conflicts.length === 1 ? '1 conflict' : `${conflicts.length} conflicts`
  // The other conflicts are about uuids, which --overwrite does not solve.
  const isSolvable = conflicts.some(({ changes }) => changes !== undefined)
  const overwrite = isSolvable ? ', or --overwrite to take the settings of the source' : ''
  return `Not applied: ${count}. Use --skip-conflicts to leave these checks unchanged${overwrite}.`
}

/** `name (from "A" to "B")` */
export function changesText(changes: SettingChanges): string {
  return Object.entries(changes)
    .map(([name, { from, to }]) => `${name} (from ${JSON.stringify(from)} to ${JSON.stringify(to)})`)
    .join(', ')
}

/** Returns a text that is equal for equal plans. */
export function planDigest({ applied: _, ...plan }: MoveInReport): string {
  return createHash('sha256').update(JSON.stringify(plan)).digest('base64url')
}
