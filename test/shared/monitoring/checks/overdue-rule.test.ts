import test, { type ExecutionContext } from 'ava'
import type { Knex } from 'knex'
import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { sweepOverdue } from '#shared/monitoring/checks/overdue-store.ts'
import { hasRules } from '#shared/monitoring/checks/rule-bits.ts'
import { applySignal, type CheckMachine, pause, resume, sweep } from '#shared/monitoring/checks/state-machine.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { groupChecks, listCheckPage, shownAt } from '#shared/monitoring/pages/check-list-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { openProduct } from '../../../support/product.ts'
import { aCheck } from './factory.ts'

/**
 * Three implementations find overdue checks: a pure function, the SQL of the sweep and the SQL of the check list. These
 * tests compare them for random checks. Times are whole minutes, plus or minus a microsecond, to hit exact deadlines.
 */
const SEED = 20_261_122
const CHECKS = 3_000
const ROUNDS = 40
const MINUTE = 60_000_000
const START = Date.UTC(2026, 2, 29, 0, 30) * 1000 // the clock changes half an hour later
const STATUSES: readonly ShownStatus[] = ['new', 'up', 'grace', 'down', 'paused']
const SCHEDULES = [
  ['cron', '*/10 * * * *'],
  ['cron', '0 2 * * *'],
  ['oncalendar', '*:0/15'],
  ['oncalendar', '2026-03-29 01:00:00'],
] as const

type Random = (below: number) => number

function randomOf(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

/** Returns a check after an hour of random signals, pauses and resumes, applied by the state machine. */
function randomCheck(random: Random): CheckMachine {
  const check: CheckMachine = aCheck({
    timeoutSeconds: 60 * (1 + random(30)),
    graceSeconds: 60 * (1 + random(30)),
    tz: random(2) === 0 ? 'UTC' : 'Europe/Berlin',
    manualResume: random(10) === 0,
  })
  const [kind, schedule] = SCHEDULES[random(8)] ?? ['simple', '']
  Object.assign(check, { kind, schedule })
  for (let minute = 0; minute < 60; minute += 1 + random(20)) {
    const act = random(12)
    if (act === 0) pause(check)
    else if (act === 1) resume(check)
    else {
      const kind = act < 5 ? 'start' : act < 7 ? 'fail' : 'success'
      applySignal(check, { kind, at: START + minute * MINUTE, rid: null }, nextOccurrence)
    }
  }
  return check
}

async function insert(db: Knex, checks: readonly CheckMachine[]): Promise<{ projectId: number; ids: number[] }> {
  const [organisation] = await db('organisations').insert({ name: 'o' }).returning('id')
  const [project] = await db('projects').insert({ organisation_id: organisation?.id, name: 'p' }).returning('id')
  const instant = (at: number | null) => (at === null ? null : db.raw(`'epoch'::timestamptz + ? * interval '1 us'`, at))
  const rows = checks.map((check) => ({
    project_id: project?.id,
    kind: check.kind,
    timeout_seconds: check.timeoutSeconds,
    grace_seconds: check.graceSeconds,
    schedule: check.schedule,
    tz: check.tz,
    status: check.status,
    last_ping: instant(check.lastPing),
    last_start: instant(check.lastStart),
    alert_after: instant(check.alertAfter),
    deadline_extended_at: instant(check.deadlineExtendedAt ?? null),
    rule_bits: check.ruleBits ?? 0,
  }))
  const ids: number[] = []
  for (let at = 0; at < rows.length; at += 500) {
    const inserted = await db('checks')
      .insert(rows.slice(at, at + 500))
      .returning('id')
    ids.push(...inserted.map(({ id }) => Number(id)))
  }
  return { projectId: project?.id, ids }
}

/** Asserts that the check list counts and lists each check under the status of the pure function. */
async function assertListed(
  t: ExecutionContext,
  db: Knex,
  { projectId, known, now }: { projectId: number; known: ReadonlyMap<number, CheckMachine>; now: number },
): Promise<void> {
  const shown = Map.groupBy(known, ([, check]) => shownStatus(check, now, nextOccurrence))
  const at = await shownAt(db, projectId, now)
  const counts = await groupChecks(db, projectId, at)
  for (const status of STATUSES) {
    const expected = new Set((shown.get(status) ?? []).map(([id]) => id))
    const page = {
      filter: { tags: [], search: '', status, quiet: null },
      sort: 'created',
      after: null,
      limit: CHECKS,
    } as const
    const listed = new Set((await listCheckPage(db, projectId, { ...page, shown: at })).map(({ id }) => id))
    const differ = [...known].filter(([id]) => listed.has(id) !== expected.has(id)).map(([, check]) => check)
    t.deepEqual(differ.slice(0, 3), [], `at ${now}: shown as ${status}`)
    const counted = counts.filter((group) => group.status === status).reduce((sum, { count }) => sum + count, 0)
    t.is(counted, expected.size)
  }
}

test(`the sweep and the check list agree with the pure function (seed ${SEED})`, async (t) => {
  await using product = await openProduct()
  const { db } = product
  const random = randomOf(SEED)
  const checks = Array.from({ length: CHECKS }, () => randomCheck(random))
  const { projectId, ids } = await insert(db, checks)
  const known = new Map(ids.map((id, index) => [id, checks[index] ?? aCheck()]))
  const seen = new Set<string>()

  for (let round = 0; round < ROUNDS; round++) {
    const now = START + (40 + round * 3) * MINUTE + random(3) - 1
    for (const check of known.values()) seen.add(shownStatus(check, now, nextOccurrence))
    await assertListed(t, db, { projectId, known, now })

    const decided = [...known].map(([id, check]) => ({ id, check, decision: sweep(check, now, nextOccurrence) }))
    const overdue = decided.flatMap(({ id, check, decision }) =>
      decision.kind === 'down' ? [{ id, check, at: decision.at, from: decision.flip.from }] : [],
    )
    const { down } = await sweepOverdue(db, now, { answered: [0], total: 1 })
    t.deepEqual([...down].sort(), overdue.map(({ id }) => id).sort(), `round ${round} at ${now}: taken down`)
    const flips = await db('flips')
      .whereIn('check_id', down)
      .where('reason', 'timeout')
      .orderBy(['check_id', { column: 'id', order: 'desc' }])
      .distinctOn('check_id')
      .select('check_id AS id', 'from_status AS from')
      .select(db.raw('(extract(epoch FROM at) * 1000000)::bigint AS at'))
    t.deepEqual(
      flips.map(({ id, from, at }) => ({ id: Number(id), from, at: Number(at) })),
      overdue.map(({ id, from, at }) => ({ id, from, at })).sort((a, b) => a.id - b.id),
    )
    for (const { check } of overdue) Object.assign(check, { status: 'down', alertAfter: null })
    if (overdue.length > 0) seen.add('swept')
  }
  t.deepEqual([...seen].sort(), [...STATUSES, 'swept'].sort(), 'every status occurred')
})

test(`the check list agrees with the pure function for checks with rules (seed ${SEED})`, async (t) => {
  await using product = await openProduct()
  const { db } = product
  const random = randomOf(SEED)
  // Rules may set the deadline to any instant.
  const checks = Array.from({ length: CHECKS / 3 }, () => {
    const check = randomCheck(random)
    const alertAfter = random(4) === 0 ? null : START + (40 + random(120)) * MINUTE
    return { ...check, ruleBits: random(16), alertAfter: check.status === 'down' ? null : alertAfter }
  }).filter(hasRules)
  const { projectId, ids } = await insert(db, checks)
  const known = new Map(ids.map((id, index) => [id, checks[index] ?? aCheck()]))
  const seen = new Set<string>()

  for (let round = 0; round < ROUNDS / 4; round++) {
    const now = START + (40 + round * 12) * MINUTE + random(3) - 1
    await assertListed(t, db, { projectId, known, now })
    for (const check of known.values()) seen.add(shownStatus(check, now, nextOccurrence))
  }
  t.deepEqual([...seen].sort(), [...STATUSES].sort(), 'every status occurred')
})
