import type { z } from 'zod'

/**
 * A message, declared once. Everything else is derived: its routing key is its name, each consumer has a durable
 * quorum queue `<name>.<consumer>` and a dead-letter queue `<name>.<consumer>.dead`. A message carries ids and facts
 * that cannot be read again, never rows.
 */
export interface MessageContract<T> {
  name: string
  /** increment if old consumers cannot read the new shape, one release after consumers read both (docs/adr/0011) */
  version: number
  /** names of workers in workers/registry.ts */
  consumers: readonly string[]
  schema: z.ZodType<T>
}

export function defineMessage<T>(
  name: string,
  version: number,
  contract: { consumers: readonly string[]; schema: z.ZodType<T> },
): MessageContract<T> {
  return { name, version, ...contract }
}

/** The queue of one consumer of a message. */
export function queueOf(message: MessageContract<unknown>, consumer: string): string {
  return `${message.name}.${consumer}`
}

/** Where a queue's messages end that cannot be handled. */
export function deadLetterQueueOf(queue: string): string {
  return `${queue}.dead`
}
