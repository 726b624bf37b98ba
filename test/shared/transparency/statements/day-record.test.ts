import test from 'ava'
import type { StoredStatus } from '#shared/monitoring/checks/check.ts'
import { merged } from '#shared/monitoring/maintenance/spans.ts'
import { uptimeOf } from '#shared/monitoring/maintenance/uptime.ts'
import { recordOfDay, spanOfDate } from '#shared/monitoring/statements/record-of-day.ts'
import { datesBetween, isDate, readRecord, recordHash, sumsOfDay } from '#shared/transparency/statements/day-record.ts'
import { uptimeSentence } from '#shared/transparency/statements/uptime-sentence.ts'
import { isUptimeProof, verifyUptime } from '#shared/transparency/statements/verify-uptime.ts'
import { randomOf } from '../../../support/random.ts'

const date = '2026-11-21'
const day = spanOfDate(date)

test('the sums of a day record equal the uptime of the API', (t) => {
  const second = 1_000_000
  const statuses: readonly StoredStatus[] = ['up', 'down', 'paused', 'new']
  for (let scenario = 0; scenario < 2_000; scenario++) {
    const random = randomOf(9, scenario)
    const below = (limit: number) => random.int(limit)
    const span = () => {
      const from = day.from + (below(88_000) - 3_600) * second
      return { from, until: from + (1 + below(20_000)) * second }
    }
    let status = random.pick(statuses)
    const first = status
    const times = Array.from({ length: below(6) }, () => day.from + below(86_400) * second).toSorted((a, b) => a - b)
    const flips = times.map((at) => {
      const from = status
      status = random.pick(statuses)
      return { at, from, to: status, reason: 'timeout' }
    })
    const unknown = Array.from({ length: below(3) }, span)
    const excluded = merged(Array.from({ length: below(3) }, span))
    const facts = { checkId: 1, uniqueKey: 'k', settings: { timeout: 60, grace: 60 }, first, flips, unknown, excluded }
    const record = recordOfDay(facts, date, '00')
    const uptime = uptimeOf({ flips, before: first, createdAt: 0, unknown, excluded }, day.from, day.until)
    const sums = sumsOfDay(record)
    if (
      sums.up !== uptime.up ||
      sums.down !== uptime.down ||
      sums.unknown !== uptime.unknown ||
      record.up !== uptime.up
    )
      return t.fail(`scenario ${scenario}: ${JSON.stringify({ sums, uptime, record })}`)
  }
  t.pass()
})

test('a day record is limited to its day and the life of its check', (t) => {
  const facts = {
    checkId: 1,
    uniqueKey: 'k',
    settings: { timeout: 60, grace: 60 },
    first: null,
    flips: [{ at: day.from + 82_800_000_000, to: 'up', reason: '' }],
    unknown: [{ from: day.until - 60_000_000, until: day.until + 60_000_000 }],
    excluded: [],
  }
  const record = recordOfDay(facts, date, 'ab'.repeat(16))
  t.like(record, {
    first: null,
    up: 3_540,
    down: 0,
    unknown: [['2026-11-21T23:59:00+00:00', '2026-11-22T00:00:00+00:00']],
  })
  const parsed = JSON.parse(JSON.stringify(record))
  t.deepEqual(readRecord(parsed), record)
  t.not(recordHash(record), recordHash({ ...record, nonce: 'cd'.repeat(16) }), 'the hash includes the nonce')
})

test('malformed records, days and proofs are refused', (t) => {
  const record = JSON.parse(
    JSON.stringify(
      recordOfDay(
        { checkId: 1, uniqueKey: 'k', settings: {}, first: 'up', flips: [], unknown: [], excluded: [] },
        date,
        '00',
      ),
    ),
  )
  const wrong = [
    { v: 2 },
    { date: '2026-13-01' },
    { flips: [['x', 'up', '']] },
    { flips: [[date, 'up']] },
    { unknown: 1 },
    { first: 1 },
    { up: '1' },
    { settings: [] },
  ]
  for (const change of wrong) t.is(readRecord({ ...record, ...change }), undefined, JSON.stringify(change))
  t.is(readRecord(null), undefined)
  t.false(isDate('2026-02-30'))
  t.false(isDate('2026-2-3'))
  t.deepEqual(datesBetween('2026-02-27', '2026-03-01'), ['2026-02-27', '2026-02-28', '2026-03-01'])
  t.false(isUptimeProof({ records: [] }))
  const proof = { check: 'k', from: date, until: date, records: [], statements: [], proofs: [] }
  t.is(verifyUptime(proof).result, 'PARTIAL', 'no statement about the day')
  for (const change of [{ from: '2026-01-01' }, { until: '2026-11-20' }, { records: [1] }, { statements: [{}] }])
    t.throws(() => verifyUptime({ ...proof, ...change }), { code: 'UPTIME_PROOF_MALFORMED' }, JSON.stringify(change))
})

test('the uptime sentence has the period, the share, and the unknown time', (t) => {
  const october = { name: 'db-backup', from: '2026-10-01', until: '2026-10-31' }
  const days = [
    { up: 86_357, down: 43, unknown: 0 },
    { up: 84_540, down: 0, unknown: 1_860 },
  ]
  t.is(
    uptimeSentence(october, days),
    'db-backup was up 99.97 % of the known time in October 2026 (unknown: 31 minutes)',
  )
  const one = { ...october, until: '2026-10-01' }
  t.is(uptimeSentence(one, [{ up: 10, down: 0, unknown: 0 }]), 'db-backup was up 100 % of the known time on 2026-10-01')
  t.is(
    uptimeSentence({ ...october, until: '2026-10-30' }, [{ up: 0, down: 0, unknown: 90 }]),
    'db-backup: nothing was known from 2026-10-01 to 2026-10-30 (unknown: 90 seconds)',
  )
})
