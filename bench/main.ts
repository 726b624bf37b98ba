import { chosen, explainCommandLine, parseOptions } from '#shared/platform/process/command-line.ts'
import { benchOnePolicy } from './alerting.ts'
import { benchAlerts } from './alerts.ts'
import { benchBlindEvaluation } from './blind-evaluation.ts'
import { benchDeadlineExtensions } from './deadline-extensions.ts'
import { benchDecisions } from './decisions.ts'
import { benchDeliveries } from './deliveries.ts'
import { benchFamilies } from './families.ts'
import { benchFastPath, benchRuledProject } from './fast-path.ts'
import { benchFootprint } from './footprint.ts'
import { benchImports } from './imports.ts'
import { benchLog } from './log.ts'
import { benchMemory } from './memory.ts'
import { benchPacks } from './packs.ts'
import { benchPages } from './pages.ts'
import { benchPaint } from './paint.ts'
import { benchPingStorage } from './ping-storage.ts'
import { benchPings } from './pings.ts'
import { benchSweep } from './sweep.ts'
import { printTable } from './table.ts'
import { benchTenants } from './tenants.ts'
import { benchTracesOff } from './traces.ts'

/**
 * Suites are independent; ratios are measured within one run, because machines differ and are noisy. `--quick` measures
 * the pings in a minute, with fewer cases and rounds.
 */
const suites = {
  pings: async (isQuick: boolean) =>
    printTable('Pings', await benchPings({ seconds: isQuick ? 2 : 3, rounds: isQuick ? 2 : 5, isQuick })),
  storage: async () => printTable('Storage of pings', await benchPingStorage({ rounds: 7, batches: 20 })),
  deliveries: async () => printTable('Deliveries', await benchDeliveries({ deliveries: 6_400, rounds: 3 })),
  pages: async () =>
    printTable('Pages', await benchPages({ checks: 10_000, pingsPerCheck: 100, rounds: 3, requests: 60 })),
  paint: async (isQuick: boolean) => printTable('First paint', await benchPaint({ rounds: isQuick ? 3 : 9 })),
  tenants: async () =>
    printTable('Pings while another tenant attacks', await benchTenants({ rounds: 7, idleMs: 2_000 })),
  packs: async () => printTable('Packs', await benchPacks({ seconds: 2, rounds: 3, backlog: 1_000 })),
  families: async (isQuick: boolean) => {
    printTable('Evidence families', await benchFamilies({ seconds: 2, rounds: isQuick ? 1 : 3 }))
    printTable('Pings beside blind evaluations', await benchBlindEvaluation({ seconds: 2, rounds: isQuick ? 1 : 5 }))
  },
  imports: async (isQuick: boolean) =>
    printTable('Imports', await benchImports({ rounds: isQuick ? 1 : 3, before: process.env.BENCH_BEFORE })),
  log: async () => printTable('Transparency log', await benchLog({ seconds: 5 })),
  sweep: async (isQuick: boolean) =>
    printTable(
      'Sweep',
      await benchSweep({ checks: isQuick ? 200_000 : 1_000_000, overdue: isQuick ? 20_000 : 100_000 }),
    ),
  alerts: async (isQuick: boolean) =>
    printTable('Alerts', await benchAlerts({ rounds: isQuick ? 1 : 3, flips: 40_000, alerts: 2_000 })),
  alerting: async (isQuick: boolean) => {
    printTable('Decisions', benchDecisions({ rounds: isQuick ? 3 : 9 }))
    const before = process.env.BENCH_BEFORE
    const length = { seconds: isQuick ? 2 : 5, rounds: isQuick ? 2 : 7 }
    if (before === undefined) console.log('The build before is left out: BENCH_BEFORE names no tree of it.')
    printTable('Plain pings', [
      ...(before === undefined ? [] : [await benchFastPath(before, length)]),
      await benchRuledProject(length),
    ])
    const size = isQuick ? { checks: 20_000, overdue: 2_000 } : { checks: 1_000_000, overdue: 100_000 }
    printTable('Alerting', [await benchOnePolicy(size)])
    printTable('Deadline extensions', [await benchDeadlineExtensions(size)])
  },
  traces: async () => printTable('Traces', [await benchTracesOff({ rounds: 9 })]),
  footprint: async (isQuick: boolean) =>
    printTable(
      'Footprint of one process for everything',
      await benchFootprint({ restSeconds: isQuick ? 10 : 60, starts: isQuick ? 1 : 5, pingSeconds: isQuick ? 3 : 10 }),
    ),
  memory: async (isQuick: boolean) => printTable('Memory', await benchMemory({ aborted: isQuick ? 10_000 : 100_000 })),
}

type Suite = (isQuick: boolean) => Promise<void>

const { chosenSuites, isQuick } = wanted(process.argv.slice(2))
for (const run of chosenSuites) await run(isQuick)

function wanted(args: string[]): { chosenSuites: Suite[]; isQuick: boolean } {
  try {
    const options = { quick: { type: 'boolean', default: false } } as const
    const { positionals, values } = parseOptions({ args, allowPositionals: true, options })
    const named = new Set<Suite>(positionals.map((name) => chosen<Suite>('suite', name, suites)))
    const chosenSuites = Object.values<Suite>(suites).filter((suite) => named.size === 0 || named.has(suite))
    return { chosenSuites, isQuick: values.quick }
  } catch (error) {
    return explainCommandLine(error)
  }
}
