import { setTimeout as sleep } from 'node:timers/promises'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { ConflictError } from '#shared/errors.ts'
import { type DeadLetterBox, openDeadLetterBox } from '#shared/platform/broker/dead-letter-box.ts'
import { LOOK_EVERY_MS } from '#shared/platform/database/installation.ts'
import { setShards, shardsInUse } from '#shared/platform/database/ping-shards.ts'
import { type AdminContext, type Command, numberOf, UsageError } from './command.ts'

const show: Command = {
  noun: 'shards',
  verb: 'show',
  summary: 'Show how many ping queues the installation uses, and what each holds',
  options: {},
  async run(_given, { db, config }) {
    const inUse = await shardsInUse(db)
    await using box = await openDeadLetterBox(config.amqpUrl)
    const queues = []
    for (let shard = 0; shard < (inUse?.most ?? config.pingShards); shard++) {
      const found = await box.look(pingQueue(shard))
      if (found) queues.push({ queue: pingQueue(shard), ...found })
    }
    const shards = inUse?.shards ?? null
    const text = [
      `${shards ?? 'none yet'} in use${inUse ? `, set by ${inUse.setBy}` : ''}; PING_SHARDS is ${config.pingShards} here`,
      ...queues.map(({ queue, messages, consumers }) => `${queue}  ${messages} messages, ${consumers} consumers`),
    ]
    return { json: { shards, setting: config.pingShards, queues }, text: text.join('\n') }
  },
}

const set: Command = {
  noun: 'shards',
  verb: 'set',
  summary: 'Change how many ping queues the installation uses',
  help: [
    'Stop every ingress and mail listener first, and wait until the ping queues are empty. Then set the number, and start',
    'all processes with PING_SHARDS at the new one: those with another take no part and say so.',
  ],
  options: { to: { description: 'the new number, 1 to 64', value: 'N', required: true } },
  async run(given, context) {
    const to = numberOf(given, 'to') ?? 0
    if (to < 1 || to > 64) throw new UsageError('--to is not between 1 and 64')
    await using box = await openDeadLetterBox(context.config.amqpUrl)
    const inUse = await shardsInUse(context.db)
    const from = inUse?.shards ?? to
    const most = inUse?.most ?? to
    await refuseWhileHeld(box, most)
    await setShards(context.db, to, context.actor)
    if (to !== from) await undoWhenPinged(box, context, { from, most })
    return {
      json: { from, to },
      text: `${from} before, ${to} now: start every process with PING_SHARDS=${to}`,
    }
  },
}

export const shardCommands: readonly Command[] = [show, set]

/** A ping that waits under the old number would be applied after those under the new one, or by nobody. */
async function refuseWhileHeld(box: DeadLetterBox, most: number): Promise<void> {
  for (let shard = 0; shard < most; shard++) {
    const messages = (await box.look(pingQueue(shard)))?.messages ?? 0
    if (messages > 0) {
      throw new ConflictError(
        `${pingQueue(shard)} holds ${messages} messages: let the evaluators finish, and try again`,
      )
    }
  }
}

/** An ingress that was not stopped may have sent a ping the old way until it noticed: then the change is taken back. */
async function undoWhenPinged(
  box: DeadLetterBox,
  { db, actor }: AdminContext,
  { from, most }: { from: number; most: number },
): Promise<void> {
  await sleep(LOOK_EVERY_MS * 2)
  try {
    await refuseWhileHeld(box, most)
  } catch (error) {
    await setShards(db, from, actor)
    throw error
  }
}
