import { readFileSync } from 'node:fs'
import test from 'ava'
import type { ShownIncident, TimelineRow } from '#shared/monitoring/alerting/incident-page-view.ts'
import { incidentMarkdown, timelineText, withTimeline } from '#shared/monitoring/alerting/incident-text.ts'
import { type EntryKind, timelineEntries } from '#shared/monitoring/alerting/timeline.ts'

interface Vectors {
  incident: { downAt: number; resolvedAt: number; resolution: 'recovered' }
  cases: { row: TimelineRow; kind: EntryKind | null; text?: string }[]
}

const vectors: Vectors = JSON.parse(readFileSync('test/vectors/incident-timeline.json', 'utf8'))

test('each row of an incident has one sentence, and a decision repeats no notification', (t) => {
  for (const { row, kind, text } of vectors.cases) {
    const [entry] = timelineEntries([row], vectors.incident, false)
    t.is(entry?.kind ?? null, kind, JSON.stringify(row))
    t.is(entry?.text, text)
  }
})

test('a failure that began the outage is one entry, unless its exit status adds to it', (t) => {
  const textsOf = (exit: number | null) =>
    timelineEntries(
      [
        { kind: 'flip', what: 'down', at: INCIDENT.downAt, detail: { reason: 'fail' } },
        { kind: 'failure', what: 'fail', at: INCIDENT.downAt, detail: { exit } },
        { kind: 'failure', what: 'fail', at: INCIDENT.downAt + 1, detail: { exit: null } },
      ],
      INCIDENT,
      true,
    ).map(({ text }) => text)
  const [down, later] = ['Down: a failure was reported', 'Failed: a failure was reported']
  t.deepEqual(textsOf(null), [down, later])
  t.deepEqual(textsOf(3), [down, 'Failed: exit 3', later])
})

test('the end follows the other entries, on the last page only', (t) => {
  const rows = vectors.cases.map(({ row }) => row)
  t.is(timelineEntries(rows, vectors.incident, true).at(-1)?.text, 'Resolved')
  t.not(timelineEntries(rows, vectors.incident, false).at(-1)?.kind, 'resolved')
  const paused = timelineEntries(rows, { ...vectors.incident, resolution: 'paused' }, true).at(-1)
  t.is(paused?.text, 'Resolved: the check was paused')
})

const INCIDENT: ShownIncident = {
  ...{
    id: 'x',
    n: 1,
    projectId: 1,
    ackName: null,
    checkId: 1,
    checkUuid: 'u',
    name: '<b>db</b> [x](y)\n# z',
    state: 'acknowledged' as const,
  },
  ...{
    severity: 'critical' as const,
    downAt: 1_764_295_920_000_000,
    alertAt: null,
    resolvedAt: null,
    resolution: null,
  },
  ...{
    flips: 1,
    failures: 1,
    flapping: false,
    suppression: null,
    notified: [],
    skips: [],
    isEscalating: false,
    firstStep: null,
    exhaustedAt: null,
    isExhausted: false,
    tags: '',
  },
  ...{ policyUuid: null, isDirect: true, assignee: null, ackAt: 1, ackBy: 'anna@example.org', ackVia: 'page' },
  ...{
    ackUntil: null,
    isSnoozed: false,
    leadId: null,
    members: 0,
    ackTimeout: null,
    nextAt: null,
    report: '## Cause\ndisk',
    previous: null,
    ackSeconds: 1,
    ackedBy: '',
  },
}

test('the export contains state, timeline and report, and names add no formatting', (t) => {
  const [entry] = timelineEntries(
    [{ kind: 'flip', what: 'down', at: INCIDENT.downAt, detail: { reason: 'fail' } }],
    INCIDENT,
    true,
  )
  const text = incidentMarkdown({
    incident: INCIDENT,
    entries: entry ? [entry] : [],
    url: 'https://example.org/incidents/x',
    now: INCIDENT.downAt + 90_000_000,
  })
  t.is(
    text,
    [
      '# \\<b\\>db\\</b\\> \\[x\\]\\(y\\) \\# z',
      '',
      '- State: acknowledged',
      '- Severity: critical',
      '- Down since: 2025-11-28 02:12:00 UTC',
      '- Duration: 1 minute, 30 seconds',
      '- Acknowledged by: anna\\@example\\.org',
      '- Page: <https://example.org/incidents/x>',
      '',
      '## Timeline',
      '',
      '- 2025-11-28 02:12:00 UTC Down: a failure was reported',
      '',
      '## Report',
      '',
      '## Cause',
      'disk',
      '',
    ].join('\n'),
  )
})

test('the timeline is inserted below its heading, otherwise at the end', (t) => {
  const rows: TimelineRow[] = [
    { kind: 'gap', what: 'full', at: 0, detail: { cause: 'x', until: '2026-11-28T02:31:00+00:00' } },
  ]
  const lines = timelineText(timelineEntries(rows, { downAt: 0, resolvedAt: null, resolution: null }, true))
  t.is(lines, '1970-01-01 00:00:00 UTC  Pings could not be received (x) until 2026-11-28 02:31:00 UTC')
  t.is(withTimeline('Summary\n\nTimeline\n\nCause\n', 'a'), 'Summary\n\nTimeline\na\n\nCause\n')
  t.is(withTimeline('No heading', 'a'), 'No heading\n\na')
  t.is(withTimeline('', 'a'), 'a')
})
