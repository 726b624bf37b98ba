import test from 'ava'
import { countFailures } from '#shared/monitoring/alerting/failures.ts'
import { IMPLICIT_PLAN, policyFor } from '#shared/monitoring/alerting/policy.ts'
import { SECOND, START, uuidOf } from '../alert-scenario.ts'

test('a named policy precedes a match by tags and one for all checks', (t) => {
  const policy = (id: number, match: string, position = 0) => {
    return { id, uuid: uuidOf(id), name: `p${id}`, match, position, plan: IMPLICIT_PLAN }
  }
  const all = [policy(9, '*'), policy(8, '*', 5), policy(4, 'prod', 2), policy(6, 'prod db', 1), policy(5, 'prod', 1)]
  const idFor = (tags: string, policyId: number | null = null, policies = all) =>
    policyFor({ tags, policyId }, policies)?.id ?? null
  t.is(idFor('prod db', 9), 9, 'named')
  t.is(idFor('prod db'), 5, 'the oldest policy of the lowest position applies')
  t.is(idFor('prod db', 404), 5, 'a deleted policy does not apply')
  t.is(
    idFor('db prod web', null, [policy(7, 'prod', 2), policy(6, 'prod db', 1)]),
    6,
    'a policy applies only to checks with all of its tags',
  )
  t.is(idFor('prod', null, [policy(6, 'prod db', 1)]), null)
  t.is(idFor('web'), 8, 'the oldest policy for all checks applies, regardless of its position')
  t.is(idFor('', null, [policy(1, ''), policy(2, ' ')]), null, 'a policy without tags does not apply')
})

test('counts missed occurrences of a cron schedule and one overrun as failures', (t) => {
  const hourly = { kind: 'cron', timeoutSeconds: 60, graceSeconds: 300, schedule: '0 * * * *', tz: 'UTC' } as const
  const minutes = (n: number) => START + n * 60 * SECOND
  const ok = (n: number) => ({ at: minutes(n), ok: true })
  const fail = (n: number) => ({ at: minutes(n), ok: false })
  const count = (results: Parameters<typeof countFailures>[1], now: number, rule = {}) =>
    countFailures(hourly, results, { need: 2, of: null, downAt: minutes(65), now: minutes(now), ...rule })
  t.deepEqual(count([ok(2)], 66), { have: 1, metAt: null, nextAt: minutes(125), successes: 0 })
  t.deepEqual(count([ok(2)], 125), { have: 2, metAt: minutes(125), nextAt: minutes(185), successes: 0 })
  t.like(count([ok(2), fail(62)], 70), { have: 1, nextAt: minutes(125) }, 'the fail ping was the finish of that hour')
  t.like(count([ok(2), fail(62)], 125), { have: 2, metAt: minutes(125) })
  t.like(count([ok(2), fail(62), ok(121)], 130), { have: 0, successes: 1 }, 'a success resets the count')
  t.like(count([fail(2), ok(61), fail(122), ok(181)], 184, { of: 3, downAt: minutes(122) }), { have: 1 })
  t.like(count([fail(2), ok(61), fail(122), ok(181)], 184, { of: 4, downAt: minutes(122) }), { have: 2 })
  t.like(count([ok(50)], 60, { downAt: minutes(58) }), { have: 1, nextAt: minutes(65) }, 'it overran')
  t.like(
    count([ok(50)], 66, { downAt: minutes(58) }),
    { have: 1, nextAt: minutes(125) },
    'a missed occurrence counts after the flip',
  )
})
