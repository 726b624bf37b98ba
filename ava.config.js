import { globSync } from 'node:fs'
import { relative } from 'node:path'

const folder = import.meta.dirname

// The files that take longest begin first, so that none of them is left to run alone at the end.
const longest = [
  'test/e2e/browser/accessible.test.ts',
  'test/e2e/browser/evidence.test.ts',
  'test/e2e/browser/risk.test.ts',
  'test/e2e/browser/truth.test.ts',
  'test/e2e/browser/tapes-and-trade.test.ts',
  'test/e2e/browser/list-tools.test.ts',
  'test/examples/documentation.test.ts',
  'test/workers/alerter/alerter.test.ts',
  'test/workers/sweeper/watchdog.test.ts',
  'test/examples/webhooks-walkthrough.test.ts',
  'test/examples/identity-walkthrough.test.ts',
  'test/ingress/monitoring/published-errors.test.ts',
  'test/faults/database-away.test.ts',
  'test/faults/broker-cluster.test.ts',
  'test/faults/readiness.test.ts',
  'test/fuzz/every-route.test.ts',
  'test/faults/soak.test.ts',
  'test/faults/slow-confirms.test.ts',
  'test/faults/other-shards.test.ts',
]
/** Four browsers at a time keep two cores so busy that each of them stands still for seconds: others run between them. */
const BETWEEN_BROWSERS = 12

const ranks = new Map(inOrder().map((file, rank) => [file, rank]))

function inOrder() {
  const place = (file) => (longest.includes(file) ? longest.indexOf(file) : longest.length)
  const all = globSync('test/**/*.test.{ts,tsx}', { cwd: folder }).sort(
    (a, b) => place(a) - place(b) || a.localeCompare(b),
  )
  const browsers = all.filter((file) => file.startsWith('test/e2e/browser/'))
  const others = all.filter((file) => !browsers.includes(file))
  const spread = browsers.flatMap((file, index) => [
    file,
    ...others.slice(index * BETWEEN_BROWSERS, (index + 1) * BETWEEN_BROWSERS),
  ])
  return [...spread, ...others.slice(browsers.length * BETWEEN_BROWSERS)]
}

/** Files that a test of the suite makes somewhere else have no rank. */
function rankOf(file) {
  return ranks.get(relative(folder, file)) ?? ranks.size
}

// Each test file runs in its own process on its own database and broker vhost (test/support), so files are independent.
export default {
  files: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
  extensions: ['ts', 'tsx'],
  nodeArguments: ['--import=./test/support/load-typescript.ts', '--import=./test/support/exit-at-once.ts'],
  require: ['./test/support/record-progress.ts'],
  environmentVariables: { NODE_ENV: 'test' },
  sortTestFiles: (a, b) => rankOf(a) - rankOf(b),
  timeout: '5m',
  workerThreads: false,
}
