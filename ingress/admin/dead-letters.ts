import { workQueues } from '#shared/contracts/topology.ts'
import { type DeadLetteredMessage, summarize } from '#shared/platform/broker/dead-letter.ts'
import {
  type DeadLetterQueues,
  type DeadLetterResult,
  openDeadLetterQueues,
} from '#shared/platform/broker/dead-letter-queue.ts'
import { recordDeadLetterAction } from '#shared/platform/broker/dead-letter-store.ts'
import { isServerFault } from '#shared/platform/database/error-class.ts'
import { pingQueuesInUse } from '#shared/platform/database/ping-queues.ts'
import { type AdminContext, type Command, numberOf, type Options, type Output, textOf, UsageError } from './command.ts'

const queue = {
  description: 'work queue of the dead letters, for example pings.0',
  value: 'QUEUE',
  required: true,
} as const
const message = { description: 'id of a message', value: 'ID' } as const
const limit = { description: 'read at most N messages of a queue (default 1000)', value: 'N' } as const

const list: Command = {
  noun: 'dead-letters',
  verb: 'list',
  summary: 'List the work queues with the number of their dead letters',
  options: {},
  async run(_options, context) {
    await using deadLetters = await openDeadLetterQueues(context.config.amqpUrl)
    const rows = []
    for (const name of await queuesOfInstallation(context))
      rows.push({ queue: name, messages: await deadLetters.depth(name) })
    const text = rows.map((row) => `${String(row.messages ?? 'no queue').padStart(8)}  ${row.queue}`)
    return { json: rows, text: text.join('\n') }
  },
}

const inspect: Command = {
  noun: 'dead-letters',
  verb: 'inspect',
  summary: 'Show dead letters with their reasons; they stay in their queue',
  options: { queue, message, limit, body: { description: 'show the content too, which may contain data of pings' } },
  async run(options, context) {
    await using deadLetters = await openDeadLetterQueues(context.config.amqpUrl)
    const id = options.message
    const seen = await deadLetters.each(
      await requireQueue(options, context),
      limitOf(options),
      () => 'keep',
      async () => {},
    )
    const messages = seen
      .filter(({ message }) => id === undefined || message.messageId === id)
      .map(({ message }) => ({
        ...summarize(message),
        ...(options.body === true && { body: message.body.toString('utf8') }),
      }))
    const text = messages.map((it) =>
      [
        `${it.messageId}  ${it.type}  ${it.bytes} bytes`,
        `  ${it.reason}${it.failures === null ? '' : ` after ${it.failures} failures`}`,
        ...(it.firstError === null ? [] : [`  first: ${it.firstError}, last: ${it.lastError}`]),
        ...('body' in it ? [`  ${it.body}`] : []),
      ].join('\n'),
    )
    return { json: messages, text: text.join('\n') }
  },
}

const replayServerFaults: Command = {
  noun: 'dead-letters',
  verb: 'replay-server-faults',
  summary: 'Replay the dead letters of all queues that a fault of a server caused',
  help: [
    'A server fault is any error of the database except invalid data (SQLSTATE classes 22 and 23): for example a missing',
    'column, a full disk, or a pooler that lost a prepared statement. With --error, dead letters with this last error',
    'are replayed instead, for example 23514 or TypeError.',
  ],
  options: { error: { description: 'SQLSTATE, code or name of the last error', value: 'ERROR' }, limit },
  async run(options, context) {
    const requested = options.error
    const isSelected = (message: DeadLetteredMessage) => {
      const { lastError } = summarize(message)
      if (typeof requested !== 'string') return isServerFault(lastError)
      return lastError?.split(' ').includes(requested) ?? false
    }
    await using deadLetters = await openDeadLetterQueues(context.config.amqpUrl)
    const results = []
    for (const name of await queuesOfInstallation(context)) {
      if (((await deadLetters.depth(name)) ?? 0) === 0) continue
      results.push(
        ...(await handle(deadLetters, context, name, options, (message) => (isSelected(message) ? 'replay' : 'keep'))),
      )
    }
    return report(results)
  },
}

export const deadLetterCommands: readonly Command[] = [
  list,
  inspect,
  actionCommand('replay', 'Return messages to their work queue, and reset their number of failures'),
  replayServerFaults,
  actionCommand('discard', 'Delete messages permanently'),
]

function actionCommand(action: 'replay' | 'discard', summary: string): Command {
  return {
    noun: 'dead-letters',
    verb: action,
    summary,
    options: { queue, message, all: { description: 'all dead letters of the queue, up to --limit' }, limit },
    async run(options, context) {
      const id = options.message
      if ((id === undefined) === (options.all === undefined)) throw new UsageError('give either --message or --all')
      await using deadLetters = await openDeadLetterQueues(context.config.amqpUrl)
      return await act(deadLetters, context, options, (message) =>
        id === undefined || message.messageId === id ? action : 'keep',
      )
    },
  }
}

async function act(
  deadLetters: DeadLetterQueues,
  context: AdminContext,
  options: Options,
  decide: (message: DeadLetteredMessage) => 'keep' | 'replay' | 'discard',
): Promise<Output> {
  const results = await handle(deadLetters, context, await requireQueue(options, context), options, decide)
  if (results.length === 0) throw new UsageError('the queue has no such dead letter')
  return report(results)
}

interface Handled {
  messageId: string
  result: DeadLetterResult
}

/** Applies the result of `decide` to the dead letters of a queue, and records each action. */
async function handle(
  deadLetters: DeadLetterQueues,
  { db, actor }: AdminContext,
  queue: string,
  options: Options,
  decide: (message: DeadLetteredMessage) => 'keep' | 'replay' | 'discard',
): Promise<Handled[]> {
  const seen = await deadLetters.each(queue, limitOf(options), decide, async (message, action) => {
    await recordDeadLetterAction(db, { queue, messageId: message.messageId, action, actor })
  })
  const handled = seen.filter(({ result }) => result !== 'kept')
  return handled.map(({ message, result }) => ({ messageId: message.messageId, result }))
}

function report(results: readonly Handled[]): Output {
  const text = results.map(({ messageId, result }) => `${messageId}  ${result}`).join('\n')
  return { json: results, text, failed: results.some(({ result }) => result === 'unreadable') }
}

async function queuesOfInstallation({ db, config }: Pick<AdminContext, 'config' | 'db'>): Promise<string[]> {
  return workQueues(await pingQueuesInUse(db, config.pingShards))
}

async function requireQueue(options: Options, context: Pick<AdminContext, 'config' | 'db'>): Promise<string> {
  const name = textOf(options, 'queue').replace(/\.dead$/, '')
  const queues = await queuesOfInstallation(context)
  if (!queues.includes(name)) throw new UsageError(`there is no queue ${name}; there are ${queues.join(', ')}`)
  return name
}

function limitOf(options: Options): number {
  return numberOf(options, 'limit') ?? 1000
}
