import { shardOf } from '#shared/contracts/ping-batch.ts'
import { shardsNow } from '#shared/contracts/ping-generations.ts'
import { listenersOf } from '#shared/monitoring/availability/gap-store.ts'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { type LogCursor, type LogKind, listCheckLog } from '#shared/monitoring/pages/check-log-store.ts'
import { listKeptFailures } from '#shared/monitoring/pings/kept-failure-store.ts'
import type { RecordedPing } from '#shared/monitoring/pings/store.ts'
import { type Micros, toSeconds } from '#shared/time.ts'
import { paged } from '../../../paging.ts'
import { Ago, Exact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { humanDuration } from '../../shell/format.ts'
import { firstLine, type LogLine, pairEntries } from './ping-body.ts'
import { Recipient } from './recipient.tsx'

const PAGE_SIZE = 40
const kinds = ['ping', 'flip', 'notification', 'gap'] as const
const kindNames: Readonly<Record<LogKind, string>> = {
  ping: 'Pings',
  flip: 'Changes',
  notification: 'Messages',
  gap: 'Gaps',
}

export interface LogPage {
  entries: LogLine[]
  next: string | null
  /** all event types if none was chosen */
  shown: readonly LogKind[]
  /** pings of type `fail` only */
  onlyFailures: boolean
  /** failures that the log has dropped, newest first; only on the last page of the failures */
  older: readonly RecordedPing[]
}

export async function readLog(context: Context, check: Check, afterN: number): Promise<LogPage> {
  const onlyFailures = context.query.get('log') === 'failure'
  const requested = kinds.filter((kind) => context.query.getAll('log').includes(kind))
  const shown = onlyFailures ? (['ping'] as const) : requested.length === 0 ? kinds : requested
  const before = parseCursor(context.query.get('before'))
  const { db, installation, config } = context.deps
  const listener = (await listenersOf(db, [check.id])).get(check.id) ?? 'http'
  const heardBy = { listener, shard: 1n << BigInt(shardOf(check.id, shardsNow(installation.generations()))) }
  const rows = await listCheckLog(db, check.id, {
    kinds: shown,
    before,
    afterN,
    limit: PAGE_SIZE + 1,
    heardBy,
    onlyFailures,
  })
  const { page: entries, nextCursor: next } = paged(rows, PAGE_SIZE, ({ at, kind, id }) => `${at}.${kind}.${id}`)
  const hasOlder = onlyFailures && next === null
  const failures = hasOlder ? await listKeptFailures(db, check.id, config.keptFailures) : []
  return { entries: pairEntries(entries), next, shown, onlyFailures, older: failures.filter(({ n }) => n <= afterN) }
}

function parseCursor(text: string | null): LogCursor | null {
  const match = /^(\d{1,16})\.(ping|flip|notification|gap)\.([0-9a-f-]{1,36})$/.exec(text ?? '')
  const kind = kinds.find((one) => one === match?.[2])
  return match && kind ? { at: Number(match[1]), kind, id: match[3] ?? '' } : null
}

/** Shows pings, flips, messages and coverage gaps, newest first. @param props.path the check's page */
export function CheckLog(props: {
  context: Context
  path: string
  log: LogPage
  now: Micros
  /** bodies may contain secrets, so only editors see them */
  showsBodies: boolean
  tz: string
}) {
  const { path, log, now, context } = props
  const isFiltered = log.shown.length < kinds.length
  const query = log.onlyFailures ? 'log=failure&' : isFiltered ? log.shown.map((kind) => `log=${kind}&`).join('') : ''
  return (
    <section class="card log" data-region="log" aria-labelledby="log">
      <div class="card-head">
        <h2 id="log">Log</h2>
        <ZoneSwitch tz={props.tz} />
        <ul class="chips small" aria-label="Entries to show">
          <li>
            <a href={`${path}#log`} aria-current={isFiltered ? undefined : 'true'}>
              All
            </a>
          </li>
          {kinds.map((kind) => (
            <li key={kind}>
              <a
                href={`${path}?log=${kind}#log`}
                aria-current={isFiltered && !log.onlyFailures && log.shown.includes(kind) ? 'true' : undefined}
              >
                {kindNames[kind]}
              </a>
            </li>
          ))}
          <li>
            <a href={`${path}?log=failure#log`} aria-current={log.onlyFailures ? 'true' : undefined}>
              Failures
            </a>
          </li>
        </ul>
      </div>
      {log.entries.length === 0 && log.older.length === 0 ? (
        <p class="muted">Nothing yet.</p>
      ) : (
        <ol class="entries">
          {log.entries.map((entry) => (
            <li key={`${entry.kind}-${entry.id}`} class={`entry ${entry.kind}`}>
              <span class="entry-when">
                <Exact at={entry.at} />
                <small>
                  <Ago at={entry.at} now={now} />
                </small>
              </span>
              <Entry entry={entry} path={path} showsBodies={props.showsBodies} />
            </li>
          ))}
        </ol>
      )}
      {!props.showsBodies && log.entries.some(({ hasBody }) => hasBody) && (
        <p class="hint">
          Bodies are shown here only to roles that may change checks, because they may contain ping addresses. Open a
          ping to read its body without these.
        </p>
      )}
      {log.older.length > 0 && <OlderFailures failures={log.older} path={path} now={now} />}
      <nav class="pager" aria-label="Pages of the log">
        {context.query.has('before') && <a href={`${path}?${query}#log`}>Newest</a>}
        {log.next !== null && (
          <a href={`${path}?${query}before=${log.next}#log`} rel="next">
            Older
          </a>
        )}
      </nav>
    </section>
  )
}

/** Failures that are kept although newer pings have displaced them from the log. */
function OlderFailures(props: { failures: readonly RecordedPing[]; path: string; now: Micros }) {
  return (
    <>
      <h3>Older failures</h3>
      <ol class="entries">
        {props.failures.map(({ n, at, scheme, method, remoteAddr, ua }) => (
          <li key={n} class="entry ping">
            <span class="entry-when">
              <Exact at={at} />
              <small>
                <Ago at={at} now={props.now} />
              </small>
            </span>
            <span class="entry-what">
              <a href={`${props.path}/pings/${n}`} class="pill ping-fail" data-drawer>
                <span class="hidden">Ping </span>#{n} {pingLabel.fail}
              </a>{' '}
              <span class="entry-detail">
                {scheme} {method} {remoteAddr && <>from {remoteAddr}</>}
                {ua && <small class="agent"> · {ua}</small>}
              </span>
            </span>
          </li>
        ))}
      </ol>
    </>
  )
}

function Entry({ entry, path, showsBodies }: { entry: LogLine; path: string; showsBodies: boolean }) {
  if (entry.kind === 'flip') {
    return (
      <span class="entry-what">
        <span class={`pill is-${entry.toStatus}`}>{statusLabels[entry.toStatus ?? 'new']}</span>{' '}
        <span>
          was {entry.fromStatus}
          {entry.reason === 'timeout' ? ': no ping in time' : entry.reason === 'fail' ? ': a failure was reported' : ''}
        </span>{' '}
        <a href={`${path}?why=${Number(entry.id)}#why`}>Notifications</a>
      </span>
    )
  }
  if (entry.kind === 'gap') {
    return (
      <span class="entry-what">
        <span class="pill">outage on our side</span> <span>{gapText(entry)}</span>
      </span>
    )
  }
  if (entry.kind === 'notification') {
    return (
      <span class="entry-what">
        <span class={`pill ${entry.state === 'delivered' ? 'good' : entry.state === 'pending' ? '' : 'bad'}`}>
          {messageLabel[entry.state ?? 'pending']}
        </span>{' '}
        <span>
          “{entry.toStatus}” to{' '}
          <Recipient
            uuid={entry.integrationUuid}
            name={entry.integrationName ?? ''}
            kind={entry.integrationKind ?? ''}
          />
          {entry.error ? `: ${entry.error}` : ''}
        </span>
      </span>
    )
  }
  return <PingEntry entry={entry} path={path} line={showsBodies ? lineOf(entry) : ''} />
}

/** Returns the subject of a mail, or the first line of another body. */
function lineOf({ head, subject }: LogLine): string {
  return subject === null ? firstLine(head) : subject || '(no subject)'
}

/** `Pings could not be received for 30 min.` */
function gapText({ at, until }: LogLine): string {
  if (until === null) return 'Pings cannot be received since then. No check goes down until they can.'
  return `Pings could not be received for ${humanDuration(toSeconds(until - at))}.`
}

/** Shows one ping, the run that it ended, if any, and its subject or the first line of its body. */
function PingEntry({ entry, path, line }: { entry: LogLine; path: string; line: string }) {
  const n = Number(entry.id)
  return (
    <span class="entry-what">
      <a href={`${path}/pings/${n}`} class={`pill ping-${entry.type}`} data-drawer>
        <span class="hidden">Ping </span>#{n} {pingLabel[entry.type ?? 'log']}
      </a>{' '}
      {entry.started && (
        <span class="took">
          took {humanDuration(toSeconds(entry.started.took))}, started by{' '}
          <a href={`${path}/pings/${entry.started.n}`} data-drawer>
            #{entry.started.n}
          </a>
          {' ·'}
        </span>
      )}{' '}
      <span class="entry-detail">
        {entry.scheme} {entry.method} {entry.remoteAddr && <>from {entry.remoteAddr}</>}
        {entry.exitStatus !== null && <>, exit status {entry.exitStatus}</>}
        {entry.ignored !== null && <>: {ignoredLabels[entry.ignored]}</>}
        {entry.ua && <small class="agent"> · {entry.ua}</small>}
      </span>
      {line !== '' ? <code class="body-line">{line}</code> : entry.hasBody && <small class="ua">with a body</small>}
    </span>
  )
}

/** Selects the time zone of the page; without scripts it is UTC. */
function ZoneSwitch({ tz }: { tz: string }) {
  return (
    <span class="zones">
      <noscript>
        <small>UTC</small>
      </noscript>
      <label class="hidden" for="zone">
        Times in
      </label>
      <select id="zone" data-scripted hidden>
        <option value="UTC">UTC</option>
        {tz !== 'UTC' && <option value={tz}>{tz}</option>}
        <option value="">This browser’s time</option>
      </select>
    </span>
  )
}

const statusLabels = { up: 'went up', down: 'went down', new: 'resumed', paused: 'paused' } as const
const messageLabel = {
  delivered: 'sent',
  failed: 'not sent',
  pending: 'sending',
  suppressed: 'kept back',
} as const
export const ignoredLabels = {
  paused: 'the check was paused, to be resumed by hand',
  method: 'only POST counts for this check',
  keywords: 'it held none of the keywords',
  secret: 'mails cannot contain the ping secret that the check requires',
  preview: 'it was the preview of a link',
  source: 'its source is not counted',
  'not-json': 'its body is not JSON, so no keyword was searched',
  cut: 'its body is longer than the limit, so no keyword was searched',
  'no-member': 'its JSON lacks the member that is searched for keywords',
} as const
export const pingLabel = { success: 'OK', start: 'start', fail: 'failure', log: 'note', ign: 'ignored' } as const
