import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { deadLetterQueueOf, type MessageContract, queueOf } from '../../contracts/define-message.ts'
import { PermanentError } from '../../errors.ts'
import { isUuid } from '../../uuid.ts'
import { isCausedByMessage, schemaMatches } from '../database/error-class.ts'
import { describeError, type Log } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import { NO_TRACER, type Tracer } from '../process/tracing.ts'
import type { Broker } from './broker.ts'
import type { Consumer, Delivery } from './consumer.ts'
import { withDeadline } from './deadlines.ts'
import { isLeftToNewer, REQUEUE_DELAY_MS } from './newer-release.ts'
import { MAX_STARTS, wasRedelivered } from './redelivery-guard.ts'
import { forgetStarts, recordStart } from './redelivery-store.ts'
import { countWaiting } from './waiting.ts'

export interface MessageContext {
  /** the same for every copy of the message: the idempotency key of its effect */
  messageId: string
  log: Log
  /** Records that the stored progress is complete, so that a later crash is not counted against it. */
  progressed(): Promise<void>
}

export interface Subscription {
  message: MessageContract<unknown>
  prefetch: number
  deadlineMs?: number
  run(payload: unknown, context: MessageContext): Promise<void>
}

export function on<T>(
  message: MessageContract<T>,
  prefetch: number,
  handle: (payload: T, context: MessageContext) => Promise<void>,
  options: { deadlineMs?: number } = {},
): Subscription {
  // The schema of the contract is applied before run, so the payload is a T.
  return { message, prefetch, ...options, run: (payload, context) => handle(payload as T, context) }
}

interface RuntimeDeps {
  db: Knex
  broker: Broker
  log: Log
  metrics: Metrics
  crashPoint: (point: string) => void
  tracer?: Tracer
}

/** Attempts after which a failing message is dead-lettered with its reason; below the delivery limit of the broker. */
const MAX_FAILURES = 5
const WAIT_MS = { first: 200, longest: 5_000 }
/** Default timeout of a handler, including its waits; then the attempt counts as failed. */
const HANDLER_MS = 120_000

/**
 * A return acknowledges. A PermanentError or an invalid payload dead-letters with a reason, except for a payload of a
 * newer release. A fault that the message did not cause (error-class.ts) leaves it in flight until the fault ends.
 * Other errors are retried a few times. A redelivered message may be what crashes the process: it is handled alone,
 * its start is recorded first, and too many starts dead-letter it.
 */
export function subscribe(worker: string, subscription: Subscription, deps: RuntimeDeps): Consumer {
  const queue = queueOf(subscription.message, worker)
  const handling = new Handling(subscription, queue, { ...deps, log: deps.log.child({ queue }) })
  const inFlight = new Set<Promise<void>>()
  let alone: Promise<void> = Promise.resolve()

  return deps.broker.consume({
    queue,
    prefetch: subscription.prefetch,
    onDelivery(delivery) {
      const others = wasRedelivered(delivery) ? [...inFlight] : []
      const work = alone.then(() => Promise.all(others)).then(() => handling.settle(delivery))
      if (wasRedelivered(delivery)) alone = work
      inFlight.add(work)
      work.finally(() => inFlight.delete(work)).catch(() => {})
    },
    async settled() {
      handling.isStopping = true
      await Promise.allSettled([...inFlight])
    },
  })
}

interface Failure {
  firstError: unknown
  lastError: unknown
  failures: number
}

class Handling {
  readonly #subscription: Subscription
  readonly #queue: string
  readonly #deps: RuntimeDeps
  isStopping = false

  constructor(subscription: Subscription, queue: string, deps: RuntimeDeps) {
    this.#subscription = subscription
    this.#queue = queue
    this.#deps = deps
  }

  async settle(delivery: Delivery): Promise<void> {
    const { message } = this.#subscription
    if (isLeftToNewer(delivery, message.version, Date.now() / 1000)) return delivery.leave(REQUEUE_DELAY_MS)
    const parsed = parsePayload(message, delivery)
    if ('reason' in parsed) {
      await this.#giveUp(delivery, parsed.reason, null)
      return
    }
    if (wasRedelivered(delivery) && !(await this.#begin(delivery))) return
    const stop = this.#deps.metrics.handled.startTimer({ queue: this.#queue })
    const { traceparent } = delivery.message.properties.headers ?? {}
    const { tracer = NO_TRACER } = this.#deps
    const handle = () => this.#tryUntilOver(delivery, parsed.payload)
    const outcome = await tracer.continued(this.#queue, traceparent, handle)
    if (outcome !== 'handed-back') stop({ outcome })
  }

  async #tryUntilOver(delivery: Delivery, payload: unknown): Promise<'done' | 'dead' | 'handed-back'> {
    const { metrics } = this.#deps
    const { run, deadlineMs = HANDLER_MS } = this.#subscription
    const messageId = String(delivery.message.properties.messageId ?? '')
    const progressed = async () => {
      if (wasRedelivered(delivery)) await this.#forget(delivery)
    }
    const context = { messageId, log: this.#deps.log.child({ messageId }), progressed }
    let firstError: unknown = null
    using waiting = countWaiting(metrics, [this.#queue])
    for (let failures = 0; delivery.isLive(); ) {
      try {
        await withDeadline(run(payload, context), deadlineMs)
        await this.#acknowledge(delivery)
        return 'done'
      } catch (error) {
        firstError ??= error
        const isInstanceQueue = isCausedByMessage(error)
        if (isInstanceQueue) failures += 1
        else waiting.begin()
        const isPermanent = error instanceof PermanentError
        if (!isPermanent) context.log.warn({ failures, ...describeError(error) }, 'message.failed')
        const reason = isPermanent ? 'PERMANENT' : await this.#deathOf(failures)
        if (reason) {
          await this.#giveUp(delivery, reason, { firstError, lastError: error, failures })
          return 'dead'
        }
        if (this.isStopping) {
          await this.#handBack(delivery)
          return 'handed-back'
        }
        await sleep(waitMs(failures))
      }
    }
    return 'handed-back'
  }

  async #acknowledge(delivery: Delivery): Promise<void> {
    this.#deps.crashPoint(`before-ack-of-${this.#queue}`)
    delivery.ack()
    if (wasRedelivered(delivery)) await this.#forget(delivery)
  }

  async #deathOf(failures: number): Promise<'FAILED' | null> {
    return failures >= MAX_FAILURES && (await schemaMatches(this.#deps.db)) ? 'FAILED' : null
  }

  async #handBack(delivery: Delivery): Promise<void> {
    // The process did not crash, so this start must not count.
    if (wasRedelivered(delivery)) await this.#forget(delivery)
    delivery.requeue()
  }

  async #begin(delivery: Delivery): Promise<boolean> {
    for (let failures = 0; delivery.isLive() && !this.isStopping; failures++) {
      try {
        if ((await recordStart(this.#deps.db, this.#queue, delivery)) <= MAX_STARTS) return true
        await this.#giveUp(delivery, 'CRASHED', null)
        return false
      } catch (error) {
        this.#deps.log.warn(describeError(error), 'message.not-begun')
        await sleep(waitMs(failures))
      }
    }
    return false
  }

  /** Logs a failure only: the remaining row is a count that is not used again. */
  async #forget(delivery: Delivery): Promise<void> {
    await forgetStarts(this.#deps.db, this.#queue, delivery).catch((error: unknown) =>
      this.#deps.log.warn(describeError(error), 'message.not-ended'),
    )
  }

  /** The broker's own dead-lettering cannot add a reason. */
  async #giveUp(delivery: Delivery, reason: string, failure: Failure | null): Promise<void> {
    await deadLetter(this.#deps, this.#queue, delivery, reason, failure)
  }
}

function waitMs(failures: number): number {
  return Math.min(WAIT_MS.longest, WAIT_MS.first * 2 ** failures)
}

/** Without a confirm the original stays unacknowledged and is redelivered. */
export async function deadLetter(
  deps: { broker: Broker; log: Log; metrics: Metrics },
  queue: string,
  delivery: Delivery,
  reason: string,
  failure: Failure | null,
): Promise<void> {
  const { properties, content } = delivery.message
  const headers: Record<string, unknown> = { 'x-signalbox-reason': reason, 'x-signalbox-queue': queue }
  if (typeof properties.headers?.v === 'number') headers.v = properties.headers.v
  if (failure) {
    headers['x-signalbox-failures'] = failure.failures
    headers['x-signalbox-first-error'] = errorName(failure.firstError)
    headers['x-signalbox-last-error'] = errorName(failure.lastError)
  }
  while (delivery.isLive()) {
    try {
      await deps.broker.publish({
        exchange: '',
        routingKey: deadLetterQueueOf(queue),
        body: content,
        messageId: String(properties.messageId ?? ''),
        type: String(properties.type ?? ''),
        headers,
      })
      delivery.ack()
      deps.metrics.deadLetters.inc({ queue, reason })
      deps.log.error({ queue, reason, messageId: properties.messageId }, 'message.dead-lettered')
      return
    } catch (error) {
      deps.log.warn({ queue, ...describeError(error) }, 'message.not-dead-lettered')
      await sleep(1000)
    }
  }
}

/** The text of an error may quote the message. */
function errorName(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name
}

function parsePayload(
  contract: MessageContract<unknown>,
  delivery: Delivery,
): { payload: unknown } | { reason: string } {
  const { content, properties } = delivery.message
  if (content.length === 0) return { reason: 'EMPTY' }
  if (properties.headers?.v !== contract.version) return { reason: 'UNKNOWN_VERSION' }
  if (!isMessageId(properties.messageId)) return { reason: 'NO_MESSAGE_ID' }
  let json: unknown
  try {
    json = JSON.parse(utf8.decode(content))
  } catch {
    return { reason: 'NOT_JSON' }
  }
  const parsed = contract.schema.safeParse(json)
  return parsed.success ? { payload: parsed.data } : { reason: 'WRONG_SHAPE' }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function isMessageId(value: unknown): boolean {
  return typeof value === 'string' && isUuid(value)
}
