import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { z } from 'zod'
import { openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

interface Options {
  seconds: number
}

const BATCH = 1_000
const WRITERS = 2

/**
 * Measures the entries per second that the anchor worker adds to its log, with a signed checkpoint each second, while
 * entries arrive; compared with storing alone, in the same run. Also measures the proof size at the reached log size.
 */
export async function benchLog({ seconds }: Options): Promise<Row[]> {
  await using files = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'bench-checkpoints-'))
  files.defer(() => rm(folder, { recursive: true }))
  await using stack = await openBenchStack({ CHECKPOINT_DIR: folder })
  const { db } = stack
  const storedAlone = (await storeFor(db, seconds / 2)) / (seconds / 2)
  const { port } = await stack.ingress()
  // The measurement starts at the first checkpoint. Entries before it are not counted.
  await stack.workers('anchor')
  const from = await coveredBy(db, 1)
  const startedAt = performance.now()
  await storeFor(db, seconds)
  const { rows } = await db.raw<{ rows: { count: number }[] }>('SELECT count(*)::int AS count FROM log_entries')
  const total = rows[0]?.count ?? 0
  const to = await coveredBy(db, total)
  const elapsed = (performance.now() - startedAt) / 1000
  const perSecond = (to.size - from.size) / elapsed
  const proof = await readProof(db, port, Math.floor(total / 3))
  return [
    {
      name: `${total} entries`,
      'entries/s': Math.round(perSecond),
      'stored alone/s': Math.round(storedAlone),
      ratio: (perSecond / storedAlone).toFixed(2),
      limit: '5000/s',
      goal: '20000/s',
      'checkpoints/s': ((to.checkpoints - from.checkpoints) / elapsed).toFixed(1),
      'hashes of a proof': proof.hashes,
      'proof file, bytes': proof.bytes,
    },
  ]
}

/** @returns the number of entries */
async function storeFor(db: Knex, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000
  let stored = 0
  const write = async () => {
    while (performance.now() < end) {
      await db.raw(STORE, [BATCH])
      stored += BATCH
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
  return stored
}

const STORE = `INSERT INTO log_entries (env, leaf_hash, entry)
  SELECT 'SANDBOX', sha256('\\x00'::bytea || entry), entry
  FROM (SELECT convert_to('{"eventType":"bench.recorded","payloadSha256":"' || encode(sha256(gen_random_uuid()::text::bytea), 'hex')
          || '","timestamp":"2026-11-21T00:00:00.000Z","v":1}', 'UTF8') AS entry
        FROM generate_series(1, ?::int)) e`

async function coveredBy(db: Knex, size: number): Promise<{ size: number; checkpoints: number }> {
  for (const startedAt = performance.now(); performance.now() - startedAt < 60_000; ) {
    const { rows } = await db.raw<{ rows: { size: number; checkpoints: number }[] }>(
      `SELECT coalesce(max(size), 0)::float8 AS size, count(*)::int AS checkpoints
       FROM log_checkpoints WHERE env = 'SANDBOX'`,
    )
    const [newest] = rows
    if (newest && newest.size >= size) return newest
    await sleep(50)
  }
  throw new Error('the log did not advance within a minute')
}

const Anchor = z.object({ proof: z.array(z.string()), tlogProof: z.string() })

async function readProof(db: Knex, port: number, seq: number): Promise<{ hashes: number; bytes: number }> {
  const { rows } = await db.raw<{ rows: { txId: string }[] }>(
    `SELECT encode(leaf_hash, 'hex') AS "txId" FROM log_entries WHERE env = 'SANDBOX' AND seq = ?`,
    [seq],
  )
  const answer = await fetch(`http://127.0.0.1:${port}/v1/anchors/${rows[0]?.txId}`)
  const { proof, tlogProof } = Anchor.parse(await answer.json())
  return { hashes: proof.length, bytes: Buffer.byteLength(tlogProof) }
}
