import type { Knex } from 'knex'
import type { MessageContract } from '../../contracts/define-message.ts'
import { messages } from '../../contracts/messages.ts'
import { EVENTS_EXCHANGE } from '../../contracts/topology.ts'
import { retryOnConflict, transaction } from '../database/db.ts'
import { preparedTransaction, type RunPrepared } from '../database/prepared.ts'
import { acrossTenants } from '../database/tenant.ts'
import { batched } from '../process/batch.ts'
import { describeError, type Log } from '../process/log.ts'
import { traceHeaders } from '../process/tracing.ts'
import type { Broker } from './broker.ts'
import { claimUnsent, deleteSent, insertMessages, type OutboxRow, type Outgoing } from './outbox-store.ts'

export type Enqueue = <T>(message: MessageContract<T>, payload: T) => Promise<void>

/**
 * Stores messages in the transaction that causes them. They are published after its commit; the sweeper sends those
 * that were not confirmed. Consumers drop duplicates by id.
 */
export interface Outbox {
  run<T>(work: (tx: Knex.Transaction, enqueue: Enqueue) => Promise<T>): Promise<T>
  /** For paths that run hundreds of times per second. `writes` is for statements without a result. */
  runPrepared<T>(work: (run: Pick<RunPrepared, 'tx' | 'writes'>, enqueue: Enqueue) => Promise<T>): Promise<T>
  publishLater(rows: readonly OutboxRow[]): void
  resend(limit: number): Promise<number>
  settled(): Promise<void>
}

const FORGET_AT_ONCE = 500

export function createOutbox(db: Knex, broker: Broker, log: Log): Outbox {
  const underWay = new Set<Promise<void>>()

  const forget = batched(
    async (sent: readonly (readonly number[])[]) => {
      await acrossTenants(() => deleteSent(db, sent.flat()))
      return sent.map(() => true)
    },
    { largest: FORGET_AT_ONCE },
  )

  async function send(rows: readonly OutboxRow[]): Promise<number> {
    const results = await Promise.allSettled(rows.map((row) => broker.publish(toMessage(row))))
    const sent = rows.filter((_, index) => results[index]?.status === 'fulfilled').map((row) => row.id)
    if (sent.length > 0) await forget(sent)
    return sent.length
  }

  function publishLater(rows: readonly OutboxRow[]): void {
    if (rows.length === 0) return
    const work = send(rows).then(
      () => {},
      (error: unknown) => log.warn(describeError(error), 'outbox.left-for-the-sweeper'),
    )
    underWay.add(work)
    work.finally(() => underWay.delete(work)).catch(() => {})
  }

  return {
    async run(work) {
      let rows: OutboxRow[] = []
      const result = await transaction(db, async (tx) => {
        rows = []
        return await work(tx, async (message, payload) => {
          rows.push(...(await insertMessages(tx, [{ message, payload }])))
        })
      })
      publishLater(rows)
      return result
    },
    async runPrepared(work) {
      const { result, stored } = await retryOnConflict(() =>
        preparedTransaction(db, async (run) => {
          const outgoing: Outgoing[] = []
          const result = await work(run, async (message, payload) => void outgoing.push({ message, payload }))
          const stored = insertMessages(run.tx, outgoing)
          // The insert is sent with the commit, which fails if the insert fails.
          stored.catch(() => {})
          return { result, stored: { rows: stored } }
        }),
      )
      publishLater(await stored.rows)
      return result
    },
    publishLater,
    async resend(limit) {
      return await send(await claimUnsent(db, limit))
    },
    async settled() {
      await Promise.allSettled([...underWay])
    },
  }
}

function toMessage(row: OutboxRow) {
  const version = messages.find((message) => message.name === row.message)?.version ?? 1
  return {
    exchange: EVENTS_EXCHANGE,
    routingKey: row.message,
    body: Buffer.from(JSON.stringify(row.payload)),
    messageId: row.messageId,
    type: row.message,
    headers: { v: version, ...traceHeaders() },
  }
}
