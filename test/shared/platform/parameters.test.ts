import test from 'ava'
import { openDatabase } from '#shared/platform/database/db.ts'
import { parameterOf, sparseColumn } from '#shared/platform/database/parameters.ts'
import { type Prepared, preparedTransaction } from '#shared/platform/database/prepared.ts'
import { createDatabase } from '../../support/services.ts'

const TEXTS = [
  '',
  ' ',
  'curl/8.0',
  'a,b',
  '{}',
  '"',
  '\\',
  'NULL',
  'null',
  'Null',
  "it's",
  'ü',
  '-',
  '1.5',
  'a b',
  '\n',
  null,
]

test('arrays reach the database as they are', async (t) => {
  await using database = await createDatabase()
  const db = openDatabase({ url: database.url, name: 'test', poolSize: 1, timeoutMs: 10_000 })
  try {
    const numbers = [0, 1, 1, -7, 1_700_000_000_000_001, null, null, 3]
    const bodies = [Buffer.from([0, 255, 92, 34]), Buffer.alloc(0), null, Buffer.from('text')]
    const flags = [true, false, null]
    const ECHO: Prepared = {
      name: 'echo',
      text: `SELECT $1::text[] AS texts, $2::float8[] AS numbers, $3::bytea[] AS bodies, $4::boolean[] AS flags,
                    $5::int[] AS nothing, $6::timestamptz AS at, $7::bytea AS body, $8::text AS text`,
    }
    const at = new Date('2026-01-02T03:04:05.678Z')
    const values = [TEXTS, numbers, bodies, flags, [], at, bodies[0] ?? null, 'NULL']
    const [row] = await preparedTransaction(db, (run) => run(ECHO, values))
    t.deepEqual(row, { texts: TEXTS, numbers, bodies, flags, nothing: [], at, body: bodies[0], text: 'NULL' })
  } finally {
    await db.destroy()
  }
})

test('a column without any value is the same as one of nulls', async (t) => {
  await using database = await createDatabase()
  const db = openDatabase({ url: database.url, name: 'test', poolSize: 1, timeoutMs: 10_000 })
  try {
    const ROWS: Prepared = {
      name: 'rows',
      text: 'SELECT * FROM unnest($1::int[], $2::uuid[], $3::text[]) AS t(id, rid, word)',
    }
    const columns = [[1, 2], sparseColumn([null, null]), sparseColumn([null, 'a'])]
    t.is(columns[1], null)
    t.deepEqual(await preparedTransaction(db, (run) => run(ROWS, columns)), [
      { id: 1, rid: null, word: null },
      { id: 2, rid: null, word: 'a' },
    ])
  } finally {
    await db.destroy()
  }
})

test('numbers and plain words are written without quotes', (t) => {
  t.is(parameterOf([1, 1, 2]), '{1,1,2}')
  t.is(parameterOf(['http', 'http', 'GET', 'a b']), '{http,http,"GET","a b"}')
})
