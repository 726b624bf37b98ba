import test from 'ava'
import { RULE_BITS } from '#shared/monitoring/checks/rule-bits.ts'
import { KnownChecks } from '../../../workers/ping-evaluator/known-checks.ts'
import { aCheck } from '../../shared/monitoring/checks/factory.ts'

const server = 1_000_000
const checks = (...ids: number[]) => ids.map((id) => aCheck({ id }))

test('either all requested checks are returned, or none', (t) => {
  const known = new KnownChecks()
  known.keep(checks(1, 2), { xid: 10, server })
  t.is(known.take([1, 2, 3]), null)
  known.keep(checks(2), { xid: 11, server })
  t.deepEqual(
    known.take([1, 2])?.map(({ check, xid }) => [check.id, xid]),
    [
      [1, 10],
      [2, 11],
    ],
  )
  t.is(known.take([1]), null, 'what is handed out is no longer known')
})

test('transaction numbers of another server, or old enough to repeat, are ignored', (t) => {
  const known = new KnownChecks()
  known.keep(checks(1), { xid: 10, server })
  t.true(known.isOf({ xid: 11, server }))
  t.false(known.isOf({ xid: 11, server: server + 1 }))
  known.keep(checks(2), { xid: 11, server: server + 1 })
  t.is(known.take([1]), null)
  known.keep(checks(3), { xid: 11 + 2 ** 31, server: server + 1 })
  t.is(known.take([2]), null)
  t.is(known.take([3])?.length, 1)
})

test('checks with rules that need other rows are not cached', (t) => {
  const known = new KnownChecks()
  known.keep([aCheck({ id: 1, ruleBits: RULE_BITS.sources }), aCheck({ id: 2, ruleBits: RULE_BITS.pingAuth })], {
    xid: 10,
    server,
  })
  t.is(known.take([1]), null)
  t.is(known.take([2])?.length, 1)
})

test('the checks with the oldest write are evicted first', (t) => {
  const known = new KnownChecks()
  const many = Array.from({ length: 20_000 }, (_, id) => id)
  known.keep(checks(...many), { xid: 10, server })
  known.keep(checks(0, 20_000), { xid: 11, server })
  t.is(known.take([1]), null)
  t.is(known.take([0, 2, 20_000])?.length, 3)
})

test('checks that are often outdated are requested less often, until they are valid again', (t) => {
  const known = new KnownChecks()
  const refusals = () => {
    let count = 0
    for (known.keep(checks(1), { xid: 10, server }); !known.take([1]); count++);
    return count
  }
  t.is(refusals(), 0)
  const after: number[] = []
  for (let round = 0; round < 8; round++) {
    known.outdated()
    after.push(refusals())
  }
  t.deepEqual(after, [1, 2, 4, 8, 16, 32, 64, 64])
  known.current()
  known.outdated()
  t.is(refusals(), 1)
})
