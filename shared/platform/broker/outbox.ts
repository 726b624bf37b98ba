import type { Knex } from 'knex'
import type { MessageContract } from '../../contracts/define-message.ts'
import { messages } from '../../contracts/messages.ts'
import { EVENTS_EXCHANGE } from '../../contracts/topology.ts'
import { transaction } from '../database/db.ts'
import { describeError, type Log } from '../process/log.ts'
import type { Broker } from './broker.ts'
import { deleteSent, insertMessages, type OutboxRow, takeUnsent } from './outbox-store.ts'

/** Stores a message in the caller's transaction; it is published once that has committed. */
export type Enqueue = <T>(message: MessageContract<T>, payload: T) => Promise<void>

/**
 * Row and message go together: a message caused by a change is a row of the same transaction. The process that
 * committed publishes it at once; what it could not publish, the sweeper sends (resend). So a message may be sent twice,
 * always with the same id, and consumers drop the copy.
 */
export interface Outbox {
  /** Runs `work` in a transaction and then publishes what it enqueued, without making the caller wait for the broker. */
  run<T>(work: (tx: Knex.Transaction, enqueue: Enqueue) => Promise<T>): Promise<T>
  /** Publishes rows of a transaction that has committed, without waiting. For callers that write rows by themselves. */
  publishLater(rows: readonly OutboxRow[]): void
  /** Publishes rows that nobody confirmed in time, oldest first. @returns how many were sent */
  resend(limit: number): Promise<number>
  /** Waits for the publishing that is under way; for shutdown. */
  settled(): Promise<void>
}

export function createOutbox(db: Knex, broker: Broker, log: Log): Outbox {
  const underWay = new Set<Promise<void>>()

  async function send(rows: readonly OutboxRow[]): Promise<number> {
    const results = await Promise.allSettled(rows.map((row) => broker.publish(toMessage(row))))
    const sent = rows.filter((_, index) => results[index]?.status === 'fulfilled').map((row) => row.id)
    if (sent.length > 0) await deleteSent(db, sent)
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
    publishLater,
    async resend(limit) {
      return await send(await takeUnsent(db, limit))
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
    headers: { v: version },
  }
}
