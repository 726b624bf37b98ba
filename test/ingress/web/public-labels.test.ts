import test from 'ava'
import {
  overall,
  type PublicState,
  publicLabel,
  publicOrder,
} from '../../../ingress/web/monitoring/projects/public-labels.ts'

const of = (name: string, status: PublicState['status'], maintenanceUntil: number | null = null): PublicState => ({
  check: { name },
  status,
  maintenanceUntil,
})

test('a status page sorts checks by down, late and name, and omits paused ones', (t) => {
  const all = [of('b 10', 'up'), of('z', 'new'), of('p', 'paused'), of('c', 'grace'), of('d', 'down'), of('b 9', 'up')]
  t.deepEqual(
    publicOrder(all).map(({ check }) => check.name),
    ['d', 'c', 'b 9', 'b 10', 'z'],
  )
})

test('public labels are plain, and maintenance is not an outage', (t) => {
  t.is(publicLabel(of('a', 'up')), 'Operational')
  t.is(publicLabel(of('a', 'grace')), 'Delayed')
  t.is(publicLabel(of('a', 'down')), 'Down')
  t.is(publicLabel(of('a', 'down', 1)), 'Maintenance')
})

for (const [states, status, text] of [
  [[of('a', 'up'), of('b', 'down'), of('c', 'grace')], 'down', '1 of 3 is down'],
  [[of('a', 'up'), of('b', 'grace')], 'grace', 'All operational, 1 is delayed'],
  [[of('a', 'up'), of('b', 'down', 1)], 'up', 'All operational, 1 in maintenance'],
  [[of('a', 'down'), of('b', 'up', 1)], 'down', '1 of 2 is down, 1 in maintenance'],
  [[of('a', 'down', 1)], 'paused', 'In maintenance'],
  [[of('a', 'down', 1), of('b', 'new')], 'paused', 'Nothing is known yet, 1 in maintenance'],
  [[of('a', 'new')], 'new', 'Nothing is known yet'],
  [[], 'new', 'Nothing is known yet'],
] as const)
  test(`the summary is: ${text} (${states.length})`, (t) => t.deepEqual(overall(states), { status, text }))
