import test from 'ava'
import { query } from '#shared/platform/database/sql.ts'
import { faults } from '../soak/faults.ts'
import { openServersOfRun } from '../soak/servers.ts'
import { soak } from '../soak/soak.ts'
import type { Fault } from '../soak/stage.ts'

// `make soak` runs two hours of every fault on three brokers and two database servers; the suite this.

/** A loss that the product cannot cause, which the reconciliation must find. */
const tampering: Fault = {
  name: 'a stored row is tampered with',
  async run({ db }) {
    const [ping] = await query<{ rid: string }>(db, 'SELECT rid FROM pings WHERE rid IS NOT NULL ORDER BY at LIMIT 1')
    await db('pings').where({ rid: ping?.rid }).delete()
  },
}

const named = ['kill -9 of evaluator', 'network: every connection to the brokers cut']

/** Two of them in one go: what dies beside a fault takes ten seconds to be late. */
const together: Fault = {
  name: named.join(', '),
  async run(stage) {
    const chosen = faults.filter(({ name }) => named.includes(name))
    if (chosen.length !== named.length) throw new Error('there is no such fault')
    await Promise.all(chosen.map((fault) => fault.run(stage)))
  },
}

test.serial('F01, F16: a soak of two faults ends balanced and detects missing items', async (t) => {
  const report = await soak({
    openServers: openServersOfRun,
    copies: 1,
    deaths: { silent: 1, failing: 1 },
    faults: [together, tampering],
    random: () => 0,
    more: () => true,
    intervalMs: 0,
    extensionFactor: 0,
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
