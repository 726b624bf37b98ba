import test from 'ava'
import type { LogEntry } from '#shared/monitoring/pages/check-log-store.ts'
import { firstLine, lastLine, pairEntries } from '../../../ingress/web/monitoring/checks/ping-body.ts'
import { scaleOf } from '../../../ingress/web/monitoring/checks/scale.ts'
import { previewSchedule, scheduleText } from '../../../ingress/web/monitoring/checks/schedule-text.ts'

const SECOND = 1_000_000
const noon = Date.UTC(2026, 0, 10, 12) * 1000

test('a chart has a round maximum and cuts outliers', (t) => {
  const scale = scaleOf([50, 52, 55, 58, 1900].map((seconds) => seconds * SECOND))
  t.is(scale.median, 55 * SECOND)
  t.is(scale.longest, 1900 * SECOND)
  t.is(scale.top, 240 * SECOND, 'three medians, rounded up')
  t.deepEqual(scale.lines, [0, 120 * SECOND, 240 * SECOND])
  t.is(scaleOf([0.14 * SECOND]).top, 0.2 * SECOND)
  t.is(scaleOf([0]).top > 0, true, 'runs without length do not cause a division by zero')
})

const ping = (id: number, type: LogEntry['type'], rid: string | null = null): LogEntry => ({
  at: noon + id * SECOND,
  kind: 'ping',
  id: String(id),
  type,
  scheme: 'https',
  method: 'POST',
  remoteAddr: null,
  ua: null,
  rid,
  exitStatus: null,
  ignored: null,
  hasBody: false,
  head: null,
  subject: null,
  fromStatus: null,
  toStatus: null,
  reason: null,
  integrationName: null,
  integrationKind: null,
  integrationUuid: null,
  state: null,
  error: null,
  until: null,
})

test('a finish and the start with its run id are one line', (t) => {
  const lines = pairEntries([
    ping(6, 'fail', 'b'),
    ping(5, 'success', 'a'),
    ping(3, 'start', 'b'),
    ping(1, 'start', 'a'),
  ])
  t.deepEqual(
    lines.map(({ id, started }) => [id, started?.n, (started?.took ?? 0) / SECOND]),
    [
      ['6', 3, 3],
      ['5', 1, 4],
    ],
  )
})

test('a finish is not paired with the start of another run', (t) => {
  const lines = pairEntries([ping(4, 'start'), ping(3, 'success'), ping(2, 'log'), ping(1, 'start', 'other')])
  t.deepEqual(
    lines.map(({ id, started }) => [id, started]),
    [
      ['4', null],
      ['3', null],
      ['2', null],
      ['1', null],
    ],
  )
})

test('shows the first nonblank line of a text body, none of a binary one', (t) => {
  t.is(firstLine(Buffer.from('\n\n  ValueError: row 1042 \nmore')), 'ValueError: row 1042')
  t.is(firstLine(Buffer.from([0, 1, 2])), '')
  t.is(firstLine(null), '')
  t.is(lastLine(Buffer.from('dumping\n\nValueError: row 1042 \r\n\n')), 'ValueError: row 1042')
  t.is(lastLine(Buffer.from([0, 1, 2])), '')
  t.is(firstLine(Buffer.from('x'.repeat(300))).length, 121)
  t.is(firstLine(Buffer.from('₹'.repeat(5)).subarray(0, 13)), '₹₹₹₹', 'a truncated character is omitted')
})

test('a preview describes a schedule with its next times and deadline', (t) => {
  const input = {
    kind: 'schedule',
    timeoutSeconds: 0,
    graceSeconds: 3600,
    schedule: '30 2 * * 1-5',
    tz: 'Asia/Kolkata',
  } as const
  const preview = previewSchedule(input, noon)
  t.is(preview.problem, null)
  t.is(preview.words, 'At 02:30, Monday through Friday, by the clock of Asia/Kolkata.')
  t.is(preview.next.length, 5)
  t.is(new Date((preview.lateAt ?? 0) / 1000).toISOString(), '2026-01-11T21:00:00.000Z')
  t.is((preview.downAt ?? 0) - (preview.lateAt ?? 0), 3600 * SECOND)
  t.is(scheduleText('Mon..Fri 02:30'), 'Mon..Fri 02:30', 'a schedule without a description in words is shown as it is')
  const simple = previewSchedule({ ...input, kind: 'simple', timeoutSeconds: 900 }, noon)
  t.is(simple.words, 'A ping at least every 15 min.')
  t.is(simple.downAt, noon + 4500 * SECOND)
})

for (const [what, input] of Object.entries({
  'a period that is no number': { kind: 'simple', timeoutSeconds: Number.NaN },
  'a period that is too short': { kind: 'simple', timeoutSeconds: 5 },
  'a grace time that is no number': { graceSeconds: Number.NaN },
  'an empty schedule': { schedule: ' ' },
  'an invalid schedule': { schedule: '61 * * * *' },
  'an unknown zone': { tz: 'Mars/Base' },
  'an early time that is longer than a day': { earlySeconds: 86_401 },
} as const))
  test(`a preview explains the error: ${what}`, (t) => {
    const good = { kind: 'schedule', timeoutSeconds: 900, graceSeconds: 60, schedule: '* * * * *', tz: 'UTC' } as const
    t.not(previewSchedule({ ...good, ...input }, noon).problem, null)
  })
