/**
 * Test files that the runner imports into one process, where their tests run one after the other. A process loads the
 * product once, and starts a server or a browser installation once for all files that need its kind. Files that are not
 * listed are grouped by folder and size.
 */
export const SYSTEM_GROUPS: readonly (readonly string[])[] = [
  ...[
    // One separate broker (sharedRabbit).
    ['broker-alarms', 'broker-outage', 'encrypted'],
    // Copies of one prepared PostgreSQL folder.
    ['database-outage', 'disk-full', 'fail-over', 'standby-loss', 'restored'],
    // Killed processes of the product.
    ['crash-points', 'killed-evaluators', 'killed-importers', 'one-process', 'poison', 'side-by-side', 'upgrade'],
    ['families-races', 'financing-races', 'killed-for-half-an-hour', 'rolling-restart', 'several-copies', 'soak'],
    // Long waits and little processor time.
    ['blind', 'clocks', 'database-away', 'half-open', 'late-ping', 'readiness', 'slow-confirms'],
    // The memory of the test process itself.
    ['broken-off', 'memory'],
    [
      'backlog',
      'database-contention',
      'duplicates',
      'hanging-targets',
      'leaving-node',
      'lost-confirms',
      'malformed',
      'missing-topology',
      'traces',
    ],
    ['generations', 'handover', 'other-shards', 'out-of-order', 'pooler', 'server-faults'],
  ].map((group) => group.map((name) => `test/faults/${name}.test.ts`)),
  // One installation with risk data. The other browser tests share an installation without it.
  ['risk', 'deliveries', 'evidence', 'questions', 'tapes-and-trade'].map((name) => `test/e2e/browser/${name}.test.ts`),
  // One product with all workers.
  [
    'agent',
    'blind-financing',
    'documentation',
    'families-walkthrough',
    'identity-walkthrough',
    'monitoring',
    'securitisation-walkthrough',
    'trade-walkthrough',
    'webhooks-walkthrough',
  ].map((name) => `test/examples/${name}.test.ts`),
]
