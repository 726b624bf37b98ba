import type { z } from 'zod'

/** The name is the routing key. A message contains ids and facts that cannot be read again, never rows. */
export interface MessageContract<T> {
  name: string
  /** increment if old consumers cannot read the new shape, one release after consumers read both (docs/adr/0011) */
  version: number
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

export function queueOf(message: MessageContract<unknown>, consumer: string): string {
  return `${message.name}.${consumer}`
}

export function deadLetterQueueOf(queue: string): string {
  return `${queue}.dead`
}
