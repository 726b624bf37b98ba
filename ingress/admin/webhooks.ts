import { DomainError } from '#shared/errors.ts'
import { isUuid } from '#shared/uuid.ts'
import { listAttemptsWithAnswers, REPLAYABLE, type Replay } from '#shared/webhooks/delivery-store.ts'
import { listInactive, scopeOfEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { readBacklog } from '#shared/webhooks/fan-out-store.ts'
import { REPLAY_PER_SECOND, replayEndpoint } from '#shared/webhooks/operations/deliveries.ts'
import { type Command, lines, numberOf, textOf, UsageError } from './command.ts'

/** Maximum characters of a displayed response. */
const EXCERPT = 1024

const backlog: Command = {
  noun: 'webhooks',
  verb: 'backlog',
  summary: 'How many deliveries wait, and for how long the oldest has been due',
  options: {},
  async run(_options, { db }) {
    const waiting = await readBacklog(db, new Date())
    return { json: waiting, text: lines({ due: waiting.due, open: waiting.open, 'oldest (s)': waiting.oldestSeconds }) }
  },
}

const disabled: Command = {
  noun: 'webhooks',
  verb: 'disabled',
  summary: 'List the endpoints that are not active; those disabled by the service come first',
  options: {},
  async run(_options, { db }) {
    const endpoints = await listInactive(db)
    const text = endpoints.map(
      (one) => `${one.id}  ${one.env}  ${one.state}${one.reason ? ` (${one.reason})` : ''}  ${one.since.toISOString()}`,
    )
    return { json: endpoints, text: text.join('\n') || 'none' }
  },
}

const attempts: Command = {
  noun: 'webhooks',
  verb: 'attempts',
  summary: 'List the attempts of a delivery with the beginning of each response (not visible to its owner)',
  options: { delivery: { description: 'id of the delivery', value: 'ID', required: true } },
  async run(options, { db }) {
    const log = await listAttemptsWithAnswers(db, uuidOf(textOf(options, 'delivery'), 'delivery'))
    const shown = log.map(({ response, ...attempt }) => ({ ...attempt, answer: excerpt(response) }))
    const text = shown.map(
      (one) =>
        `${one.n}  ${one.startedAt.toISOString()}  ${one.outcome}  ${one.statusCode ?? one.failure ?? ''}  ${one.answer ?? ''}`,
    )
    return { json: shown, text: text.join('\n') || 'none' }
  },
}

const replay: Command = {
  noun: 'webhooks',
  verb: 'replay',
  summary: 'Send deliveries of an endpoint once more: same events, same bodies, in order and at a bounded rate',
  options: {
    endpoint: { description: 'id of the endpoint, which must be active', value: 'ID', required: true },
    from: { description: 'events from this instant on', value: 'ISO' },
    to: { description: 'events up to this instant', value: 'ISO' },
    status: { description: `${REPLAYABLE.join(', ')} (default: all but DELIVERED)`, value: 'STATE' },
    rate: { description: 'deliveries per second (default 50)', value: 'N' },
  },
  async run(options, { db, actor, log }) {
    const endpointId = uuidOf(textOf(options, 'endpoint'), 'endpoint')
    const what = {
      from: instantOf(options.from, 'from'),
      to: instantOf(options.to, 'to'),
      states: statesOf(options.status),
      perSecond: Math.max(1, numberOf(options, 'rate') ?? REPLAY_PER_SECOND),
    }
    const replayed = await db.transaction(async (tx) => {
      const scope = await scopeOfEndpoint(tx, endpointId)
      if (!scope) throw new UsageError('there is no such endpoint')
      const operator = { kind: 'operator', name: actor } as const
      // No message is needed: the sweeper finds the due rows within a second.
      return await replayEndpoint(tx, operator, { scope, endpointId, ...what }, { enqueue: async () => {} }).catch(
        asUsage,
      )
    })
    log.warn({ endpointId, replayed, actor }, 'webhooks.replayed')
    return { json: { endpointId, replayed }, text: `${replayed} deliveries are due again` }
  },
}

export const webhookCommands: readonly Command[] = [backlog, disabled, attempts, replay]

/** Converts an error about the endpoint's state into a usage error. */
function asUsage(error: unknown): never {
  throw error instanceof DomainError ? new UsageError(error.message) : error
}

function excerpt(response: Buffer | null): string | null {
  return response === null ? null : JSON.stringify(response.subarray(0, EXCERPT).toString('utf8'))
}

function uuidOf(text: string, name: string): string {
  if (!isUuid(text)) throw new UsageError(`--${name} is not an id`)
  return text
}

function instantOf(value: string | true | undefined, name: string): Date | null {
  if (value === undefined) return null
  const at = new Date(String(value))
  if (Number.isNaN(at.getTime())) throw new UsageError(`--${name} must be a date or time, not "${value}"`)
  return at
}

function statesOf(value: string | true | undefined): Replay['states'] {
  if (value === undefined) return REPLAYABLE.filter((state) => state !== 'DELIVERED')
  const states = REPLAYABLE.filter((state) => state === value)
  if (states.length === 0) throw new UsageError(`--status must be one of ${REPLAYABLE.join(', ')}, not "${value}"`)
  return states
}
