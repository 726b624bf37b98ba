import type { ChannelModel } from 'amqplib'

/** Longest wait for the broker to answer; a node that is frozen, or waits for one that is, answers nothing for minutes. */
const BROKER_ANSWER_MS = 10_000

/**
 * Waits for an operation on a connection. One that is not answered in time takes the connection with it: its channels
 * are in an unknown state, and the next connection may lead to a node that answers.
 * @param what named in the error
 * @throws BrokerSilentError after the deadline; what the operation throws, unchanged
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
    // First, so that the reason is told and not its consequence.
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

/** Ends a connection without a goodbye, which would not be answered either: it is lost, and a new one is made. */
function abandon(model: ChannelModel, error: Error): void {
  // The library's types do not show the socket.
  const { stream } = model.connection as ChannelModel['connection'] & { stream?: { destroy(error: Error): void } }
  stream?.destroy(error)
}

/**
 * Waits for work on a new connection, and for proof that it lives. Of one that broke meanwhile the driver would tell
 * nobody: it would count as open for ever, and nothing could be published. One that a node ends in the packet that opens
 * it, since it shuts down, has told its end before anybody could listen: only what is asked of it shows that.
 * @throws Error when it broke, however the work ended; BrokerSilentError when it answers nothing
 */
export async function unbroken(model: ChannelModel, work: Promise<void>): Promise<void> {
  let isBroken = false
  model.once('close', () => {
    isBroken = true
  })
  await Promise.all([work, proveAlive(model)])
  if (isBroken) throw new Error('the connection broke while it was prepared')
}

/** Opens a channel, which needs no other node, and lets it go. */
async function proveAlive(model: ChannelModel): Promise<void> {
  const channel = await answered(model, 'a first channel', model.createChannel())
  channel.on('error', () => {})
  await answered(model, 'the end of the first channel', channel.close())
}

/** @throws Error when `work` takes longer; it goes on all the same, and must be safe to repeat */
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
