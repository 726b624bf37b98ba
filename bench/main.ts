import { benchDeliveries } from './deliveries.ts'
import { benchLog } from './log.ts'
import { benchPacks } from './packs.ts'
import { benchPages } from './pages.ts'
import { benchPingStorage } from './ping-storage.ts'
import { benchPings } from './pings.ts'
import { benchSweep } from './sweep.ts'
import { printTable } from './table.ts'

/** Each suite stands by itself; ratios are taken within one run, since machines differ and are noisy. */
const suites = {
  pings: async () => printTable('Pings', await benchPings({ seconds: 4, rounds: 3 })),
  storage: async () => printTable('Storage of pings', await benchPingStorage({ rounds: 7, batches: 20 })),
  deliveries: async () => printTable('Deliveries', await benchDeliveries({ deliveries: 6_400, rounds: 3 })),
  pages: async () =>
    printTable('Pages', await benchPages({ checks: 10_000, pingsPerCheck: 100, rounds: 3, requests: 60 })),
  packs: async () => printTable('Packs', await benchPacks({ seconds: 2, rounds: 3, backlog: 1_000 })),
  log: async () => printTable('Transparency log', await benchLog({ seconds: 5 })),
  sweep: async () => printTable('Sweep', await benchSweep({ checks: 1_000_000, overdue: 100_000 })),
}

const wanted = process.argv.slice(2)
for (const [name, run] of Object.entries(suites)) {
  if (wanted.length === 0 || wanted.includes(name)) await run()
}
