import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { MAX_SHARDS, type PingGeneration, queuesOf } from '#shared/contracts/ping-generations.ts'
import { pingQueueDeclarations } from '#shared/contracts/topology.ts'
import { connectOnce } from '#shared/platform/broker/addresses.ts'
import { openDeadLetterQueues } from '#shared/platform/broker/dead-letter-queue.ts'
import { declareTopology } from '#shared/platform/broker/declare-topology.ts'
import { pingQueuesInUse } from '#shared/platform/database/ping-queues.ts'
import { addGeneration, liveGenerations } from '#shared/platform/database/ping-shards.ts'
import { nowMicros, toIsoSeconds } from '#shared/time.ts'
import { type Command, numberOf, UsageError } from './command.ts'

const show: Command = {
  noun: 'shards',
  verb: 'show',
  summary: 'Show how many ping queues the installation uses, and what each holds',
  options: {},
  async run(_options, { db, config }) {
    const live = await liveGenerations(db)
    await using deadLetters = await openDeadLetterQueues(config.amqpUrl)
    const queues = []
    for (const number of await pingQueuesInUse(db, config.pingShards)) {
      const found = await deadLetters.inspect(pingQueue(number))
      if (found) queues.push({ queue: pingQueue(number), ...found })
    }
    const shards = live.at(-1)?.shards ?? null
    const text = [
      live.length === 0 ? 'none in use yet' : `${shards} in use`,
      ...live.map(
        (one, index) => `generation ${one.generation}: ${one.shards}, ${stateOf(one, index === live.length - 1)}`,
      ),
      ...queues.map(({ queue, messages, consumers }) => `${queue}  ${messages} messages, ${consumers} consumers`),
    ]
    const generations = live.map(({ opensAt, ...rest }) => ({ ...rest, opensAt: toIsoSeconds(opensAt) }))
    return { json: { shards, generations, queues }, text: text.join('\n') }
  },
}

function stateOf({ opensAt, isDrained }: PingGeneration, isNewest: boolean): string {
  if (isNewest) return opensAt > nowMicros() ? 'opens in some seconds' : 'accepts pings'
  return isDrained ? 'read to its end, kept for a day' : 'being read to its end'
}

const set: Command = {
  noun: 'shards',
  verb: 'set',
  summary: 'Change how many ping queues the installation uses, while it runs',
  help: [
    'Every process follows within some seconds; none is restarted. Checks go down some seconds later than usual while the',
    'former queues are read to their end. Those are kept for a day, for listeners that could not read the database, and are',
    'deleted then. PING_SHARDS is only the initial number.',
  ],
  options: { to: { description: 'the new number, 1 to 64', value: 'N', required: true } },
  async run(options, { config, db, log, actor }) {
    const to = numberOf(options, 'to') ?? 0
    if (to < 1 || to > MAX_SHARDS) throw new UsageError(`--to is not between 1 and ${MAX_SHARDS}`)
    const from = (await liveGenerations(db)).at(-1)?.shards
    if (to === from) return { json: { from, to }, text: `${to} already` }
    const connection = await connectOnce(config.amqpUrl, 'signalbox-admin')
    try {
      await addGeneration(db, to, actor, (made) =>
        declareTopology(connection, pingQueueDeclarations(queuesOf(made)), log),
      )
    } finally {
      await connection.close()
    }
    return { json: { from, to }, text: `${from} before, ${to} now: admin shards show reports the progress` }
  },
}

export const shardCommands: readonly Command[] = [show, set]
