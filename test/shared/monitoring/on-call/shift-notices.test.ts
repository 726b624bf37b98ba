import test from 'ava'
import { startOfQuiet } from '#shared/monitoring/contacts/contact-rules.ts'
import {
  announcementText,
  dueNotices,
  noticeText,
  type ShiftNotice,
  shiftNotices,
} from '#shared/monitoring/on-call/shift-notices.ts'
import { microsOfDate, toIsoSeconds } from '#shared/time.ts'

const at = (text: string) => microsOfDate(new Date(`${text}Z`))
const NIGHT = { every: '0 22 * * *', for: 9 * 3600, tz: 'UTC' }
const FAR = at('2027-01-01T00:00')

test('returns the begin of adjacent quiet hours before an instant', (t) => {
  const evening = { every: '0 20 * * *', for: 2 * 3600, tz: 'UTC' }
  const start = (quiet: (typeof NIGHT)[], text: string) => toIsoSeconds(startOfQuiet(quiet, at(text))).slice(0, 16)
  t.is(start([NIGHT], '2026-12-08T02:00'), '2026-12-07T22:00')
  t.is(start([NIGHT, evening], '2026-12-08T02:00'), '2026-12-07T20:00')
  t.is(start([NIGHT], '2026-12-07T22:00'), '2026-12-07T22:00')
  t.is(start([NIGHT], '2026-12-08T07:00'), '2026-12-08T07:00', 'quiet hours exclude their end')
  t.is(start([{ every: '0 0 * * *', for: 86_400, tz: 'UTC' }], '2026-12-08T07:00'), '2026-12-08T07:00', 'always quiet')
})

test('notices are before, at the start and at the end of a shift', (t) => {
  const shift = {
    person: 'ben',
    source: 'layer 1',
    from: at('2026-12-08T02:00'),
    until: at('2026-12-09T12:00'),
  } as const
  const settings = { quiet: [NIGHT], notices: { before: [86_400, 3600], start: true, end: true } }
  const notices = shiftNotices([shift], () => settings, FAR)
  const times = notices.map(({ kind, at: time }) => `${kind} ${toIsoSeconds(time).slice(5, 16)}`)
  t.deepEqual(times, ['before 12-06T22:00', 'before 12-07T22:00', 'start 12-07T22:00', 'end 12-09T12:00'])
  t.is(new Set(notices.map(({ key }) => key)).size, 4)
  t.deepEqual(
    shiftNotices([shift], () => settings, shift.until).map(({ kind }) => kind),
    ['before', 'before', 'start'],
    'a shift without a known end',
  )

  const { due, nextAt } = dueNotices(notices, at('2026-12-06T00:00'), at('2026-12-07T23:00'))
  t.deepEqual(
    due.map(({ kind }) => kind),
    ['before', 'before', 'start'],
  )
  t.is(nextAt, at('2026-12-09T12:00'))
  const late = dueNotices(notices, at('2026-12-06T00:00'), at('2026-12-08T03:00'))
  t.deepEqual(
    late.due.map(({ kind }) => kind),
    ['start'],
    'a notice before a shift expires at its start',
  )
})

test('texts contain local times, the next person and open incidents', (t) => {
  const schedule = { name: 'Primary', tz: 'Europe/Berlin' }
  const until = at('2026-12-07T08:00')
  const shift = { person: 'ben', source: 'layer 1', from: at('2026-11-30T08:00'), until } as const
  const facts = { schedule, until, next: 'Carl', incidents: [] }
  const textOf = (kind: ShiftNotice['kind'], more: object = {}) =>
    noticeText({ kind, shift }, { ...facts, ...more }).text
  const times = 'Your shift for Primary begins Mon 30 Nov, 09:00 and ends Mon 7 Dec, 09:00 (Europe/Berlin).'
  const incidents = [
    { name: 'db', ackBy: null },
    { name: 'api', ackBy: 'Anna' },
  ]
  t.is(textOf('before', { incidents }), times)
  t.is(textOf('start', { incidents }), `${times} Open incidents: db (not acknowledged), api (acknowledged by Anna).`)
  t.is(textOf('end'), 'Your shift for Primary ends Mon 7 Dec, 09:00 (Europe/Berlin). Next: Carl.')
  t.regex(textOf('start', { until: null }), /09:00 and has no end \(Europe\/Berlin\)\.$/)
  t.is(
    announcementText(schedule, { person: 'Ben', until, next: 'Carl' }),
    'Ben is on call for Primary until Mon 7 Dec, 09:00 (Europe/Berlin). Next: Carl.',
  )
  t.is(announcementText(schedule, { person: null, until: null, next: null }), 'No person is on call for Primary.')
})
