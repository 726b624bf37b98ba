import test from 'ava'
import { goingDownAt } from '#shared/monitoring/checks/status.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { effort } from '../../../support/effort.ts'
import { fractionsOf } from '../../../support/random.ts'
import { aCheck } from '../checks/factory.ts'
import { at, DAY0, gap, gapsOf, HOUR, MIN, proof, S, sweepOn } from './ledger-scenario.ts'

const SCENARIOS = effort(8_000, 20_000)

/** Returns a check and random gaps. */
function createScenario(seed: number) {
  const random = fractionsOf(seed)
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  const timeoutSeconds = [60, 300, 3600, 21_600][between(0, 3)] ?? 60
  const graceSeconds = [60, 120, 600, 3600][between(0, 3)] ?? 60
  const isCron = random() < 0.3
  const schedule = ['*/5 * * * *', '7 * * * *', '0 */6 * * *'][between(0, 2)] ?? ''
  const gaps: { from: number; until: number }[] = []
  let time = DAY0 + between(0, 1800) * S
  for (let count = between(1, 5); count > 0; count--) {
    const from = time + between(2, 7200) * S
    time = from + between(1, random() < 0.2 ? 10_800 : 300) * S
    gaps.push({ from, until: time })
  }
  const start = aCheck({
    status: 'up',
    lastPing: DAY0,
    graceSeconds,
    ...(isCron ? { kind: 'cron' as const, schedule } : { timeoutSeconds }),
  })
  return { random, start, gaps, last: time }
}

const isUnavailableAt = (gaps: readonly { from: number; until: number }[], instant: number) =>
  gaps.find(({ from, until }) => instant >= from && instant < until)

test('random gaps never bring a live check down', (t) => {
  for (let seed = 1; seed <= SCENARIOS; seed++) {
    const { random, start, gaps, last } = createScenario(seed)
    const end = last + 8 * HOUR
    // A live client pings after the expected time, at least 30 s before the deadline, and retries for 30 s.
    const pings: number[] = []
    let check = { ...start }
    for (let round = 0; round < 2000; round++) {
      const deadline = goingDownAt(check, nextOccurrence)
      if (deadline === null || deadline > end) break
      const grace = check.graceSeconds * S
      const due = deadline - grace
      const sent =
        Math.max(due, (check.lastPing ?? 0) + S) + Math.floor(random() * Math.max(0, deadline - 30 * S - due))
      const gapAtPing = isUnavailableAt(gaps, sent)
      const received = gapAtPing ? (gapAtPing.until - sent <= 30 * S ? gapAtPing.until : null) : sent
      if (received !== null) pings.push(received)
      check = { ...check, lastPing: received ?? sent }
    }
    const notified = sweepOn(start, { gaps: gaps.map(({ from, until }) => gap(from, until)), pings, until: end })
    if (notified.flip !== null) t.fail(`seed ${seed}: down at ${notified.flip}`)
  }
  t.pass()
})

test('a dead check goes down within a period and grace after random gaps', (t) => {
  for (let seed = 1; seed <= SCENARIOS; seed++) {
    const { start, gaps, last } = createScenario(seed)
    const notified = sweepOn(start, { gaps: gaps.map(({ from, until }) => gap(from, until)), until: last + 400 * HOUR })
    const latest = goingDownAt({ ...start, deadlineExtendedAt: last }, nextOccurrence) ?? 0
    if (notified.flip === null || notified.flip > Math.max(latest, last)) t.fail(`seed ${seed}: down too late (B3)`)
    for (const [index, extension] of notified.extensions.entries()) {
      if (index > 0 && extension <= (notified.extensions[index - 1] ?? 0))
        t.fail(`seed ${seed}: deadline extended twice by the same gap`)
      if (!gaps.some(({ until }) => until === extension))
        t.fail(`seed ${seed}: extended deadline is not the end of a gap`)
    }
  }
  t.pass()
})

test('gaps depend only on heartbeats, in any order and number of reads', (t) => {
  for (let seed = 1; seed <= effort(200, 2_000); seed++) {
    const random = fractionsOf(seed)
    const proofs = Array.from({ length: 12 }, (_, index) => {
      const from = at('08:00') + Math.floor(random() * 3600) * S
      const until = from + Math.floor(random() * 600) * S
      return proof(from, until, {
        instance: `i${index % 4}`,
        shards: BigInt(1 + Math.floor(random() * 3)),
        isClean: random() < 0.3,
      })
    })
    const now = at('10:00')
    const shuffled = proofs
      .map((one) => ({ one, key: random() }))
      .sort((a, b) => a.key - b.key)
      .map(({ one }) => one)
    const text = (gaps: ReturnType<typeof gapsOf>) =>
      gaps.map(({ shards, from, until, kind }) => [String(shards), from, until, kind].join()).sort()
    t.deepEqual(text(gapsOf(shuffled, 2, now)), text(gapsOf(proofs, 2, now)))
    // A closed gap never changes, except for the doubt that a lost process causes.
    const later = new Set(text(gapsOf(proofs, 2, now + MIN)))
    for (const line of text(gapsOf(proofs, 2, now))) if (!line.includes(',,')) t.true(later.has(line), `seed ${seed}`)
  }
})
