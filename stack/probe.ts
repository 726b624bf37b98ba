import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectBroker } from 'amqplib'
import pg from 'pg'

/** A server that is not there refuses at once; one that is there may be busy, and starting another beside it is worse. */
const PROBE_MS = 10_000

/**
 * Whether a PostgreSQL server lets us in at this URL: a whole handshake and one query, since an open port proves little.
 * @returns undefined when it does, else the reason; `code` is the SQLSTATE where the server itself refused
 */
export async function postgresRefusal(
  url: string,
  timeoutMs = PROBE_MS,
): Promise<(Error & { code?: string }) | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs })
  client.on('error', () => undefined) // a server that goes away while we ask has answered already
  try {
    await client.connect()
    await client.query('select 1')
    return undefined
  } catch (error) {
    return toError(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Whether a broker opens an AMQP connection at this URL. @returns undefined when it does, else the reason */
export async function brokerRefusal(url: string, timeoutMs = PROBE_MS): Promise<Error | undefined> {
  try {
    const connection = await connectBroker(url, { timeout: timeoutMs })
    connection.on('error', () => undefined)
    await connection.close()
    return undefined
  } catch (error) {
    return toError(error)
  }
}

/**
 * Asks again and again until a service lets us in.
 * @throws Error with the last reason after `timeoutMs`, or as soon as `gaveUp` says why it never will
 */
export async function untilAnswers(
  refusal: () => Promise<Error | undefined>,
  { what, timeoutMs, gaveUp }: { what: string; timeoutMs: number; gaveUp?: () => string | undefined },
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const reason = await refusal()
    if (!reason) return
    const dead = gaveUp?.()
    if (dead) throw new Error(`${what} did not start: ${dead}`)
    if (performance.now() > deadline) throw new Error(`${what} does not answer: ${reason.message}`, { cause: reason })
    await sleep(150)
  }
}

function toError(error: unknown): Error & { code?: string } {
  // A refused connection on several addresses arrives as an AggregateError without a message of its own.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0]
  return error instanceof Error ? error : new Error(String(error))
}
