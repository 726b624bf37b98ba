import { type EntryGroup, type EntryKind, isOfGroup, type TimelineEntry } from '#shared/monitoring/alerting/timeline.ts'
import { microsOfDate } from '#shared/time.ts'
import { Exact } from '../../shell/basics.tsx'
import { Icon } from '../../shell/icons.tsx'

const ICONS: Readonly<Record<EntryKind, string>> = {
  opened: 'incidents',
  failure: 'incidents',
  recovered: 'checks',
  resolved: 'checks',
  notified: 'send',
  escalated: 'policies',
  suppressed: 'mute',
  acknowledged: 'acknowledged',
  unacknowledged: 'acknowledged',
  snoozed: 'mute',
  assigned: 'members',
  merged: 'group',
  unmerged: 'group',
  note: 'chat',
  report: 'book',
  coverage: 'webhook',
}

const GROUPS = [
  { id: '', label: 'All' },
  { id: 'notifications', label: 'Notifications' },
  { id: 'people', label: 'People' },
] as const

export interface TimelineProps {
  path: string
  entries: readonly TimelineEntry[]
  group: EntryGroup | null
  /** number of rows before the next page; null on the last */
  next: number | null
}

export function Timeline({ path, entries, group, next }: TimelineProps) {
  const shown = entries.filter((entry) => group === null || isOfGroup(entry, group))
  return (
    <section class="card" aria-labelledby="timeline">
      <div class="card-head">
        <h2 id="timeline">Timeline</h2>
        <ul class="tabs" aria-label="Entries">
          {GROUPS.map(({ id, label }) => (
            <li key={id}>
              <a
                href={id === '' ? path : `${path}?show=${id}`}
                aria-current={(group ?? '') === id ? 'page' : undefined}
              >
                {label}
              </a>
            </li>
          ))}
        </ul>
      </div>
      {shown.length === 0 ? (
        <p class="muted">No entries.</p>
      ) : (
        <ol class="timeline">
          {shown.map((entry, index) => (
            <li key={index} class={toneOf(entry)}>
              <Icon name={ICONS[entry.kind]} />
              <span class="muted">
                <Exact at={entry.at} />
              </span>
              <span class="breakable">
                {entry.text}
                <Until entry={entry} />
              </span>
            </li>
          ))}
        </ol>
      )}
      {shown.length > 0 && (
        <p class="hint">
          Times in <span data-zone-name>UTC</span>.
        </p>
      )}
      {next !== null && (
        <p>
          <a href={`${path}?after=${next}${group === null ? '' : `&show=${group}`}`} rel="next">
            Later entries
          </a>
        </p>
      )}
    </section>
  )
}

function toneOf({ kind, result }: TimelineEntry): string | undefined {
  if (kind === 'opened' || kind === 'failure' || result === 'failed') return 'is-bad'
  return kind === 'recovered' || kind === 'resolved' ? 'is-good' : undefined
}

function Until({ entry }: { entry: TimelineEntry }) {
  const { until } = entry.detail
  if (typeof until !== 'string') return null
  return (
    <>
      {' until '}
      <Exact at={microsOfDate(new Date(until))} />
    </>
  )
}
