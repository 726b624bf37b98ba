import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectBroker } from 'amqplib'
import pg from 'pg'

/** Long, because a busy server must not get a second one beside it. A missing server refuses at once. */
const PROBE_MS = 10_000

/**
 * Logs in and runs a query, because an open port is no proof.
 * @returns undefined on success; `code` is the SQLSTATE of a refusal
 */
export async function postgresRefusal(
  url: string,
  timeoutMs = PROBE_MS,
): Promise<(Error & { code?: string }) | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs })
  client.on('error', () => undefined) // a server that disconnects now has already answered
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

/** @returns undefined on success, otherwise the reason */
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

/** @throws Error with the last reason after `timeoutMs`, or at once if `gaveUp` returns a reason */
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
  // A connection refused at several addresses is an AggregateError without a message.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0]
  return error instanceof Error ? error : new Error(String(error))
}
