import { randomUUID } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import type { Knex } from 'knex'
import type { AcceptedPing } from '#shared/contracts/ping-batch.ts'
import { openDatabase } from '#shared/platform/database/db.ts'
import { nowMicros } from '#shared/time.ts'
import { Applier } from '../../../workers/ping-evaluator/applier.ts'
import { createDatabase } from '../../support/services.ts'

/** A database with checks, an evaluator's applier and one listener. The only connection counts its queries. */
export async function openChecks(t: ExecutionContext, count: number) {
  const database = await createDatabase()
  const db = openDatabase({ url: database.url, name: 'test', poolSize: 1, timeoutMs: 10_000 })
  t.teardown(async () => {
    await db.destroy()
    await database.drop()
  })
  const [organisation] = await db('organisations').insert({ name: 'o' }).returning('id')
  const [project] = await db('projects').insert({ organisation_id: organisation?.id, name: 'p' }).returning('id')
  const rows = Array.from({ length: count }, () => ({ project_id: project?.id }))
  const checks = await db('checks').insert(rows).returning<{ id: number }[]>('id')
  return { db, ids: checks.map(({ id }) => id), applier: openApplier(db), send: openStream() }
}

export function openApplier(db: Knex, crashPoint: (name: string) => void = () => {}, pingLogLimit = 5): Applier {
  return new Applier({ db, crashPoint, clock: { now: nowMicros } as never, config: { pingLogLimit, keptFailures: 20 } })
}

export function aPing(checkId: number, changes: Partial<AcceptedPing> = {}): AcceptedPing {
  const request = { scheme: 'http', remoteAddr: null, method: 'GET', ua: '', body: null }
  return { checkId, kind: 'success', exitStatus: null, receivedAt: nowMicros(), rid: null, ...request, ...changes }
}

/** Creates the messages of one listener. */
export function openStream() {
  const stream = randomUUID()
  let seq = 0
  return (...pings: AcceptedPing[]) => [{ shard: 0, batch: { stream, seq: ++seq, pings } }]
}
