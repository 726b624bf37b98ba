import { workQueues } from '#shared/contracts/topology.ts'
import { type DeadLetteredMessage, summarize } from '#shared/platform/broker/dead-letter.ts'
import { type DeadLetterQueue, type Handling, openDeadLetterQueue } from '#shared/platform/broker/dead-letter-queue.ts'
import { recordDeadLetterAction } from '#shared/platform/broker/dead-letter-store.ts'
import { isOwnFailure } from '#shared/platform/database/error-class.ts'
import { pingQueuesInUse } from '#shared/platform/database/ping-queues.ts'
import { type AdminContext, type Command, type Given, numberOf, type Output, textOf, UsageError } from './command.ts'

const queue = { description: 'the queue they could not be handled from', value: 'QUEUE', required: true } as const
const message = { description: 'id of one message', value: 'ID' } as const
const limit = { description: 'look at no more than this many (default 1000)', value: 'N' } as const

const list: Command = {
  noun: 'dead-letters',
  verb: 'list',
  summary: 'List the queues and how many messages were given up',
  options: {},
  async run(_given, context) {
    await using box = await openDeadLetterQueue(context.config.amqpUrl)
    const rows = []
    for (const name of await queuesOfInstallation(context)) rows.push({ queue: name, messages: await box.depth(name) })
    const text = rows.map((row) => `${String(row.messages ?? 'no queue').padStart(8)}  ${row.queue}`)
    return { json: rows, text: text.join('\n') }
  },
}

const inspect: Command = {
  noun: 'dead-letters',
  verb: 'inspect',
  summary: 'Show why messages were given up; they stay',
  options: { queue, message, limit, body: { description: 'show the content too: it may hold what pings carried' } },
  async run(given, context) {
    await using box = await openDeadLetterQueue(context.config.amqpUrl)
    const id = given.message
    const seen = await box.each(
      await knownQueue(given, context),
      limitOf(given),
      () => 'keep',
      async () => {},
    )
    const messages = seen
      .filter(({ letter }) => id === undefined || letter.messageId === id)
      .map(({ letter }) => ({
        ...summarize(letter),
        ...(given.body === true && { body: letter.body.toString('utf8') }),
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

const replayOurs: Command = {
  noun: 'dead-letters',
  verb: 'replay-ours',
  summary: 'Hand out again, from every queue, what was given up for a fault that was not its own',
  help: [
    'That is what the database refused for anything but the data itself: a missing column, a full disk, a pooler that',
    'forgot. With --error, what failed with that error instead, such as 23514 or TypeError.',
  ],
  options: { error: { description: 'SQLSTATE, code or name of the last error', value: 'ERROR' }, limit },
  async run(given, context) {
    const wanted = given.error
    const isChosen = (letter: DeadLetteredMessage) => {
      const { lastError } = summarize(letter)
      if (typeof wanted !== 'string') return isOwnFailure(lastError)
      return lastError?.split(' ').includes(wanted) ?? false
    }
    await using box = await openDeadLetterQueue(context.config.amqpUrl)
    const results = []
    for (const name of await queuesOfInstallation(context)) {
      if (((await box.depth(name)) ?? 0) === 0) continue
      results.push(...(await handle(box, context, name, given, (letter) => (isChosen(letter) ? 'replay' : 'keep'))))
    }
    return report(results)
  },
}

export const deadLetterCommands: readonly Command[] = [
  list,
  inspect,
  acting('replay', 'Hand messages out again, as if for the first time'),
  replayOurs,
  acting('discard', 'Drop messages for good'),
]

function acting(action: 'replay' | 'discard', summary: string): Command {
  return {
    noun: 'dead-letters',
    verb: action,
    summary,
    options: { queue, message, all: { description: 'every message of the queue' }, limit },
    async run(given, context) {
      const id = given.message
      if ((id === undefined) === (given.all === undefined)) throw new UsageError('either --message or --all is needed')
      await using box = await openDeadLetterQueue(context.config.amqpUrl)
      return await act(box, context, given, (letter) => (id === undefined || letter.messageId === id ? action : 'keep'))
    },
  }
}

async function act(
  box: DeadLetterQueue,
  context: AdminContext,
  given: Given,
  decide: (letter: DeadLetteredMessage) => 'keep' | 'replay' | 'discard',
): Promise<Output> {
  const results = await handle(box, context, await knownQueue(given, context), given, decide)
  if (results.length === 0) throw new UsageError('no such message')
  return report(results)
}

interface Handled {
  messageId: string
  result: Handling
}

/** Applies the result of `decide` to each message of one queue, and records it in the audit. */
async function handle(
  box: DeadLetterQueue,
  { db, actor }: AdminContext,
  queue: string,
  given: Given,
  decide: (letter: DeadLetteredMessage) => 'keep' | 'replay' | 'discard',
): Promise<Handled[]> {
  const seen = await box.each(queue, limitOf(given), decide, async (letter, action) => {
    await recordDeadLetterAction(db, { queue, messageId: letter.messageId, action, actor })
  })
  const chosen = seen.filter(({ handling }) => handling !== 'kept')
  return chosen.map(({ letter, handling }) => ({ messageId: letter.messageId, result: handling }))
}

function report(results: readonly Handled[]): Output {
  const text = results.map(({ messageId, result }) => `${messageId}  ${result}`).join('\n')
  return { json: results, text, failed: results.some(({ result }) => result === 'unreadable') }
}

async function queuesOfInstallation({ db, config }: Pick<AdminContext, 'config' | 'db'>): Promise<string[]> {
  return workQueues(await pingQueuesInUse(db, config.pingShards))
}

async function knownQueue(given: Given, context: Pick<AdminContext, 'config' | 'db'>): Promise<string> {
  const name = textOf(given, 'queue').replace(/\.dead$/, '')
  const known = await queuesOfInstallation(context)
  if (!known.includes(name)) throw new UsageError(`there is no queue ${name}; there are ${known.join(', ')}`)
  return name
}

function limitOf(given: Given): number {
  return numberOf(given, 'limit') ?? 1000
}
