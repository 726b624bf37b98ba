import test from 'ava'
import { query } from '#shared/platform/database/sql.ts'
import { faults } from '../soak/faults.ts'
import { openServersOfRun } from '../soak/servers.ts'
import { soak } from '../soak/soak.ts'
import type { Fault } from '../soak/stage.ts'

// `make soak` runs two hours of all faults on three brokers and two database servers. The suite runs two faults.

/** A loss that the product cannot cause, which the reconciliation must find. */
const tampering: Fault = {
  name: 'a stored row is tampered with',
  async run({ db }) {
    const [ping] = await query<{ rid: string }>(db, 'SELECT rid FROM pings WHERE rid IS NOT NULL ORDER BY at LIMIT 1')
    await db('pings').where({ rid: ping?.rid }).delete()
  },
}

const named = ['kill -9 of evaluator', 'network: every connection to the brokers cut']

/** Both faults in one run, because a killed check needs ten seconds to become overdue. */
const together: Fault = {
  name: named.join(', '),
  async run(stage) {
    const chosen = faults.filter(({ name }) => named.includes(name))
    if (chosen.length !== named.length) throw new Error('there is no such fault')
    await Promise.all(chosen.map((fault) => fault.run(stage)))
  },
}

test.serial('a soak of two faults ends without discrepancy and detects a missing ping', async (t) => {
  const report = await soak({
    openServers: openServersOfRun,
    copies: 1,
    outages: { silent: 1, failing: 1 },
    faults: [together, tampering],
    random: () => 0,
    more: () => true,
    intervalMs: 0,
    durationFactor: 0,
    report: () => {},
  })
  const [disturbed] = report.rows
  t.deepEqual(disturbed?.found, [])
  t.is(disturbed?.messages, 8)
  t.true(report.evidence.packs > 0)
  t.deepEqual(report.evidence.found, [])
  t.true(report.found.length > 0)
  t.regex(report.found.join('\n'), /^accepted ping \S+ is stored 0 times\ncheck \S+ counted/)
})
