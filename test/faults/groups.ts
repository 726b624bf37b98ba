/**
 * Test files that the runner imports into one process, where their serial tests run one after the other. A process loads
 * the product once, and starts an own server once for all tests that need its kind. Files that are not listed run alone.
 */
export const FAULT_GROUPS: readonly (readonly string[])[] = [
  // One broker of their own (sharedRabbit).
  ['broker-alarms', 'broker-outage', 'disk-full', 'encrypted'],
  // Copies of one prepared PostgreSQL folder.
  ['database-outage', 'fail-over', 'standby-loss', 'restored'],
  // Killed processes of the product.
  ['crash-points', 'killed-evaluators', 'killed-importers', 'poison', 'side-by-side'],
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
  ['generations', 'handover', 'other-shards', 'our-own-fault', 'out-of-order', 'pooler'],
].map((group) => group.map((name) => `test/faults/${name}.test.ts`))
