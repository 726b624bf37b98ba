import type { Knex } from 'knex'
import { median } from './load.ts'
import { openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

/** Small, so that the log of each check is full and a new ping replaces the oldest. */
const LOG_LIMIT = 50
const CHECKS = 5_000
const BATCH = 500

interface Storage {
  name: string
  /** SQL that creates a full table, so that the next ping of each check replaces the oldest */
  create: string
  write: (db: Knex, checkIds: number[], ns: number[]) => Promise<unknown>
}

const COLUMNS = `check_id bigint NOT NULL, n bigint NOT NULL, type text NOT NULL, at timestamptz NOT NULL, scheme text NOT NULL,
  remote_addr text, method text NOT NULL, ua text NOT NULL, rid uuid, exit_status smallint, body bytea`
const VALUES = `'success', now(), 'http', '127.0.0.1', 'GET', 'curl/8.0', NULL::uuid, NULL::smallint, NULL::bytea`
const FILLED = `SELECT c, n, ${VALUES} FROM generate_series(1, ${CHECKS}) c, generate_series(1, ${LOG_LIMIT}) n`
const NEW = `SELECT check_id, n, ${VALUES} FROM unnest(?::bigint[], ?::bigint[]) AS t(check_id, n)`

/** The three ways to limit the log of a check that docs/adr/0002 compares. */
const storages: readonly Storage[] = [
  {
    name: 'insert, delete the replaced row by key',
    create: `CREATE TABLE bench_displaced (${COLUMNS}, PRIMARY KEY (check_id, n)); INSERT INTO bench_displaced ${FILLED}`,
    write: (db, checkIds, ns) =>
      db.raw(
        `WITH gone AS (DELETE FROM bench_displaced USING unnest(?::bigint[], ?::bigint[]) AS t(check_id, n)
           WHERE bench_displaced.check_id = t.check_id AND bench_displaced.n = t.n)
         INSERT INTO bench_displaced ${NEW}`,
        [checkIds, ns.map((n) => n - LOG_LIMIT), checkIds, ns],
      ),
  },
  {
    name: 'ring, overwritten by upsert',
    create: `CREATE TABLE bench_ring (${COLUMNS}, slot int NOT NULL, PRIMARY KEY (check_id, slot)) WITH (fillfactor = 80);
      INSERT INTO bench_ring SELECT f.*, f.n % ${LOG_LIMIT} FROM (${FILLED}) f`,
    write: (db, checkIds, ns) =>
      db.raw(
        `INSERT INTO bench_ring SELECT f.*, f.n % ${LOG_LIMIT} FROM (${NEW}) f
         ON CONFLICT (check_id, slot) DO UPDATE SET n = excluded.n, type = excluded.type, at = excluded.at,
           scheme = excluded.scheme, remote_addr = excluded.remote_addr, method = excluded.method, ua = excluded.ua,
           rid = excluded.rid, exit_status = excluded.exit_status, body = excluded.body`,
        [checkIds, ns],
      ),
  },
  {
    name: 'insert only (cost of partitions by time)',
    create: `CREATE TABLE bench_insert (${COLUMNS}, PRIMARY KEY (check_id, n)); INSERT INTO bench_insert ${FILLED}`,
    write: (db, checkIds, ns) => db.raw(`INSERT INTO bench_insert ${NEW}`, [checkIds, ns]),
  },
]

/** Measures rows per second and final size of each storage, alternately, in one run. */
export async function benchPingStorage(options: { rounds: number; batches: number }): Promise<Row[]> {
  await using stack = await openBenchStack()
  for (const { create } of storages) await stack.db.raw(create)
  await stack.db.raw('VACUUM ANALYZE')
  const speeds = storages.map((): number[] => [])
  for (let round = 0; round < options.rounds; round++) {
    for (const [index, storage] of storages.entries()) {
      const started = performance.now()
      for (let batch = 0; batch < options.batches; batch++) {
        const at = round * options.batches + batch
        const checkIds = Array.from({ length: BATCH }, (_, i) => ((at * BATCH + i * 7) % CHECKS) + 1)
        const sorted = [...new Set(checkIds)].sort((a, b) => a - b)
        await storage.write(
          stack.db,
          sorted,
          sorted.map(() => LOG_LIMIT + at + 1),
        )
      }
      speeds[index]?.push((options.batches * BATCH) / ((performance.now() - started) / 1000))
    }
  }
  const tables = ['bench_displaced', 'bench_ring', 'bench_insert']
  return await Promise.all(
    storages.map(async ({ name }, index) => {
      const { rows } = await stack.db.raw<{ rows: { mib: string }[] }>(
        'SELECT round(pg_total_relation_size(?::regclass) / 1048576.0) AS mib',
        [tables[index] ?? ''],
      )
      const rate = median(speeds[index] ?? [])
      return {
        name,
        'rows/s': Math.round(rate),
        'vs insert only': (rate / median(speeds[2] ?? [])).toFixed(2),
        'size after, MiB': rows[0]?.mib ?? '',
      }
    }),
  )
}
