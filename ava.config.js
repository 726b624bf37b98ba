// The files that take longest begin first, so that none of them is left to run alone at the end.
const longest = [
  'test/e2e/browser/risk.test.ts',
  'test/e2e/browser/evidence.test.ts',
  'test/e2e/browser/accessible.test.ts',
  'test/e2e/browser/truth.test.ts',
  'test/e2e/browser/tapes-and-trade.test.ts',
  'test/e2e/browser/list-tools.test.ts',
  'test/examples/webhooks-walkthrough.test.ts',
  'test/workers/alerter/alerter.test.ts',
  'test/workers/sweeper/watchdog.test.ts',
  'test/faults/database-away.test.ts',
  'test/faults/broker-cluster.test.ts',
  'test/faults/readiness.test.ts',
  'test/fuzz/every-route.test.ts',
  'test/faults/soak.test.ts',
  'test/faults/slow-confirms.test.ts',
  'test/faults/other-shards.test.ts',
]

function place(file) {
  const found = longest.findIndex((name) => file.endsWith(name))
  return found === -1 ? longest.length : found
}

// Each test file runs in its own process on its own database and broker vhost (test/support), so files are independent.
export default {
  files: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
  extensions: ['ts', 'tsx'],
  nodeArguments: ['--import=./test/support/load-typescript.ts', '--import=./test/support/exit-at-once.ts'],
  require: ['./test/support/record-progress.ts'],
  environmentVariables: { NODE_ENV: 'test' },
  sortTestFiles: (a, b) => place(a) - place(b) || a.localeCompare(b),
  timeout: '5m',
  workerThreads: false,
}
