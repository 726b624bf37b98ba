import type { ChannelModel } from 'amqplib'

/** Timeout for an answer of the broker. A node that is frozen, or waits for a frozen one, may need minutes. */
const BROKER_ANSWER_MS = 10_000

/**
 * After a timeout it destroys the connection, because the state of its channels is unknown. @throws BrokerSilentError
 * after the deadline; errors of the operation, unchanged
 */
export async function answered<T>(
  model: ChannelModel,
  what: string,
  operation: Promise<T>,
  withinMs = BROKER_ANSWER_MS,
): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const error = new BrokerSilentError(`${what} was not answered within ${withinMs} ms`)
    late.reject(error)
    abandon(model, error)
  }, withinMs)
  try {
    return await Promise.race([operation, late.promise])
  } finally {
    clearTimeout(timer)
    operation.catch(() => {})
  }
}

class BrokerSilentError extends Error {
  readonly code = 'BROKER_SILENT'
}

/** Skips the close handshake, which would not be answered; the client reconnects. */
function abandon(model: ChannelModel, error: Error): void {
  // The library's types do not declare the socket.
  const { stream } = model.connection as ChannelModel['connection'] & { stream?: { destroy(error: Error): void } }
  stream?.destroy(error)
}

/**
 * The driver reports no event if the connection breaks during `work`, so it would count as open. @throws Error if the
 * connection broke, even if the work succeeded; BrokerSilentError if it does not answer
 */
export async function failIfBroken(model: ChannelModel, work: Promise<void>): Promise<void> {
  let isBroken = false
  model.once('close', () => {
    isBroken = true
  })
  await Promise.all([work, proveAlive(model)])
  if (isBroken) throw new Error('the connection broke while it was prepared')
}

async function proveAlive(model: ChannelModel): Promise<void> {
  const channel = await answered(model, 'a first channel', model.createChannel())
  channel.on('error', () => {})
  await answered(model, 'the end of the first channel', channel.close())
}

/** @throws Error if `work` takes longer; the work continues and must be safe to repeat */
export async function withDeadline(work: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new HandlerTimeoutError(`took longer than ${ms} ms`)), ms)
  try {
    await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

class HandlerTimeoutError extends Error {
  readonly code = 'HANDLER_TIMEOUT'
}
