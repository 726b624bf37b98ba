import { queueDeclarations } from '#shared/contracts/topology.ts'
import { type DeadLetter, summarize } from '#shared/dead-letters/dead-letter.ts'
import { recordDeadLetterAction } from '#shared/dead-letters/store.ts'
import { type DeadLetterBox, openDeadLetterBox } from '#shared/platform/dead-letter-box.ts'
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
    await using box = await openDeadLetterBox(context.config.amqpUrl)
    const rows = []
    for (const name of workQueues(context)) rows.push({ queue: name, messages: await box.depth(name) })
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
    await using box = await openDeadLetterBox(context.config.amqpUrl)
    const id = given.message
    const seen = await box.each(
      knownQueue(given, context),
      limitOf(given),
      () => 'keep',
      async () => {},
    )
    const letters = seen
      .filter(({ letter }) => id === undefined || letter.messageId === id)
      .map(({ letter }) => ({
        ...summarize(letter),
        ...(given.body === true && { body: letter.body.toString('utf8') }),
      }))
    const text = letters.map((it) =>
      [
        `${it.messageId}  ${it.type}  ${it.bytes} bytes`,
        `  ${it.reason}${it.failures === null ? '' : ` after ${it.failures} failures`}`,
        ...(it.firstError === null ? [] : [`  first: ${it.firstError}, last: ${it.lastError}`]),
        ...('body' in it ? [`  ${it.body}`] : []),
      ].join('\n'),
    )
    return { json: letters, text: text.join('\n') }
  },
}

export const deadLetterCommands: readonly Command[] = [
  list,
  inspect,
  acting('replay', 'Hand messages out again, as if for the first time'),
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
      await using box = await openDeadLetterBox(context.config.amqpUrl)
      return await act(box, context, given, (letter) => (id === undefined || letter.messageId === id ? action : 'keep'))
    },
  }
}

async function act(
  box: DeadLetterBox,
  { db, actor, config }: AdminContext,
  given: Given,
  decide: (letter: DeadLetter) => 'keep' | 'replay' | 'discard',
): Promise<Output> {
  const name = knownQueue(given, { config })
  const seen = await box.each(name, limitOf(given), decide, async (letter, action) => {
    await recordDeadLetterAction(db, { queue: name, messageId: letter.messageId, action, actor })
  })
  const chosen = seen.filter(({ verdict }) => verdict !== 'kept')
  const results = chosen.map(({ letter, verdict }) => ({ messageId: letter.messageId, result: verdict }))
  if (results.length === 0) throw new UsageError('no such message')
  const text = results.map(({ messageId, result }) => `${messageId}  ${result}`).join('\n')
  return { json: results, text, failed: results.some(({ result }) => result === 'unreadable') }
}

function workQueues({ config }: Pick<AdminContext, 'config'>): string[] {
  return queueDeclarations(config.pingShards)
    .map(({ name }) => name)
    .filter((name) => !name.endsWith('.dead'))
}

function knownQueue(given: Given, context: Pick<AdminContext, 'config'>): string {
  const name = textOf(given, 'queue').replace(/\.dead$/, '')
  if (!workQueues(context).includes(name)) throw new UsageError(`there is no queue ${name}`)
  return name
}

function limitOf(given: Given): number {
  return numberOf(given, 'limit') ?? 1000
}
