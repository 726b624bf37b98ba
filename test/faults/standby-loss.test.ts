import test from 'ava'
import pg from 'pg'
import { isConnectionFailure, openDatabase } from '#shared/platform/database/db.ts'
import { readReplication } from '#shared/platform/database/server.ts'
import { execute, query } from '#shared/platform/database/sql.ts'
import { replicationFinding } from '../../ingress/admin/cluster-findings.ts'
import { withClient } from '../../stack/database-admin.ts'
import { eventually } from '../support/eventually.ts'
import { startPostgres } from '../support/own-servers.ts'

/** Rows committed while the standby is disconnected. */
const UNHEARD = 20

/** Starts a primary and its standby in one DATABASE_URL, with a switch for the replication. */
async function openPair(isSynchronous: boolean) {
  const resources = new AsyncDisposableStack()
  const primary = resources.use(await startPostgres())
  const standby = resources.use(await primary.standby())
  await withClient(primary.url, async (client) => {
    await client.query('CREATE TABLE kept (n int)')
    if (isSynchronous) await client.query(`ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'`)
    await client.query('SELECT pg_reload_conf()')
  })
  const url = primary.url.replace(/(127\.0\.0\.1|localhost):\d+/, (host) => `${host},127.0.0.1:${standby.port}`)
  const db = openDatabase({ url, name: 'pair', poolSize: 3, timeoutMs: 20_000 })
  resources.defer(() => db.destroy())
  await eventually('the standby to stream', async () => {
    const state = await readReplication(db)
    return state.standbys === 1 && state.isSynchronous === isSynchronous
  })
  const silence = async () => {
    const [sender] = await query<{ pid: number }>(db, 'SELECT pid FROM pg_stat_replication')
    process.kill(sender?.pid ?? 0, 'SIGSTOP')
  }
  /** Promotes the standby and waits until the pool has found it. */
  const failOver = async () => {
    await primary.kill()
    await standby.promote()
    await eventually(
      'the pool to write to the other host',
      async () => {
        try {
          return (await execute(db, 'INSERT INTO kept VALUES (0)')) === 1
        } catch (error) {
          if (!isConnectionFailure(error) && !(error instanceof pg.DatabaseError)) throw error
          return false
        }
      },
      60_000,
    )
  }
  const rows = async () =>
    (await query<{ n: number }>(db, 'SELECT n FROM kept WHERE n > 0 ORDER BY n')).map(({ n }) => n)
  return { db, silence, failOver, rows, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

test.serial('doctor reports acknowledged data that a lagging asynchronous standby lost', async (t) => {
  await using pair = await openPair(false)
  const { db } = pair
  const warned = replicationFinding(await readReplication(db), 0)
  t.regex(warned.text, /asynchronous: a fail-over loses confirmed writes/)
  t.false(
    replicationFinding(await readReplication(db), 1).ok,
    'and it is a failure if a synchronous standby is required',
  )
  await execute(db, 'INSERT INTO kept VALUES (1)')
  await eventually('the standby to have the row', async () => {
    const [row] = await query<{ lag: number }>(
      db,
      'SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float AS lag FROM pg_stat_replication',
    )
    return row?.lag === 0
  })
  await pair.silence()
  for (let n = 2; n <= UNHEARD + 1; n++) t.is(await execute(db, 'INSERT INTO kept VALUES (?)', [n]), 1)
  await pair.failOver()
  t.deepEqual(await pair.rows(), [1], `${UNHEARD} acknowledged rows are gone`)
})

test.serial('a synchronous standby loses nothing, because unreplicated commits are not acknowledged', async (t) => {
  await using pair = await openPair(true)
  const { db } = pair
  const found = replicationFinding(await readReplication(db), 1)
  t.deepEqual([found.ok, found.text], [true, '1, synchronous: the loss of one server loses no confirmed write'])
  const acknowledged: number[] = []
  for (let n = 1; n <= UNHEARD; n++)
    if ((await execute(db, 'INSERT INTO kept VALUES (?)', [n])) === 1) acknowledged.push(n)
  await pair.silence()
  const unheard = execute(db, 'INSERT INTO kept VALUES (1000)').then(
    () => 'acknowledged',
    () => 'not acknowledged',
  )
  await eventually('the commit to wait for the standby', async () => {
    const waiting = await query(db, `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
    return waiting.length === 1
  })
  await pair.failOver()
  t.is(await unheard, 'not acknowledged')
  const kept = await pair.rows()
  t.deepEqual(
    acknowledged.filter((n) => !kept.includes(n)),
    [],
  )
})
