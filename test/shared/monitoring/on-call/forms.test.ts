import test from 'ava'
import { daysText, hoursText, readHoursText } from '#shared/monitoring/on-call/hours-text.ts'
import { changedAtHandoff } from '#shared/monitoring/on-call/next-handoff.ts'
import type { Layer } from '#shared/monitoring/on-call/schedule.ts'
import { microsOfDate } from '#shared/time.ts'
import { instantsOf } from '../../../../ingress/web/monitoring/on-call/override-form.ts'

const at = (text: string) => microsOfDate(new Date(text))

test('the text of hours can be parsed again', (t) => {
  const hours = { days: ['mon', 'tue', 'wed', 'fri', 'hol'] as const, from: '09:00', to: '18:00' }
  t.is(hoursText(hours), 'mon-wed,fri,hol 09:00-18:00')
  t.deepEqual(readHoursText(hoursText(hours)), { ...hours, days: [...hours.days] })
  t.is(daysText(['sat', 'sun']), 'sat,sun')
  t.deepEqual(readHoursText('Mon - Fri all day'), { days: ['mon', '-', 'fri', 'all', 'day'], from: '', to: '' })
})

test('a change from the next handoff keeps the current shift', (t) => {
  const rotation = { unit: 'week', every: 1, on: null } as const
  const layer: Layer = {
    name: '',
    people: ['anna', 'ben', 'carl'],
    start: '2026-01-05T09:00',
    end: null,
    rotation,
    hours: [],
  }
  const before = { tz: 'Europe/Berlin', holidays: [], layers: [layer], fallback: null }
  const changed = { ...layer, people: ['anna', 'ben', 'carl', 'dora'] }
  const now = at('2026-01-07T12:00Z')
  t.deepEqual(changedAtHandoff(before, [changed], now), [
    { ...layer, end: '2026-01-12T09:00' },
    { ...changed, start: '2026-01-12T09:00', people: ['ben', 'carl', 'dora', 'anna'] },
  ])
  t.deepEqual(changedAtHandoff(before, [layer], now), [layer])
})

test('a skipped local time has no instant, a repeated one two', (t) => {
  t.deepEqual(instantsOf('2026-03-29T02:30', 'Europe/Berlin'), [])
  t.deepEqual(instantsOf('2026-10-25T02:30', 'Europe/Berlin'), [at('2026-10-25T00:30Z'), at('2026-10-25T01:30Z')])
  t.deepEqual(instantsOf('2026-04-05T01:45', 'Australia/Lord_Howe')?.length, 2)
  t.deepEqual(instantsOf('2026-11-28T09:00', 'Asia/Kolkata'), [at('2026-11-28T03:30Z')])
  t.is(instantsOf('tomorrow', 'UTC'), null)
})
