import type { CacheChange } from '#shared/contracts/ingress-messages.ts'
import { NotFoundError } from '#shared/errors.ts'
import { createKey, revokeKey, rotateKey } from '#shared/monitoring/operations/keys.ts'
import { listProjectKeys } from '#shared/monitoring/projects/store.ts'
import { announceOnce } from '#shared/platform/broker/announce-once.ts'
import { type Command, lines, numberOf, type Options, operatorOf, textOf, UsageError } from './command.ts'
import { requireProject } from './project.ts'

const project = { description: 'id of the project', value: 'ID', required: true } as const

const create: Command = {
  noun: 'key',
  verb: 'create',
  summary: 'Create one more key for a project; it is shown once',
  examples: ['key create --project ID --kind ro --name Grafana'],
  options: {
    project,
    kind: { description: 'rw, ro or ping', value: 'KIND', required: true },
    name: { description: 'what it is for', value: 'TEXT' },
  },
  async run(options, context) {
    const owner = await requireProject(textOf(options, 'project'), context)
    const kind = textOf(options, 'kind')
    if (kind !== 'rw' && kind !== 'ro' && kind !== 'ping') throw new UsageError('--kind is rw, ro or ping')
    // No cache can contain a key that did not exist before.
    const deps = { ...context, announce: () => {} }
    const input = { project: owner, kind, name: typeof options.name === 'string' ? options.name : '' } as const
    const key = await createKey(context.db, operatorOf(context), input, deps)
    const created = { kind, key }
    return { json: created, text: lines(created) }
  },
}

const list: Command = {
  noun: 'key',
  verb: 'list',
  summary: 'List the keys of a project by their first characters',
  options: { project },
  async run(options, context) {
    const { id } = await requireProject(textOf(options, 'project'), context)
    const keys = (await listProjectKeys(context.db, id)).map(({ sealed: _, ...key }) => key)
    const text = keys.map((key) =>
      `${key.id}  ${key.kind.padEnd(4)}  ${key.prefix}...  used ${use(key.lastUsedAt)}${key.replacedAt === null ? '' : '  replaced'}  ${key.name}`.trimEnd(),
    )
    return { json: keys, text: text.join('\n') }
  },
}

const options = {
  project,
  key: { description: 'number of the key, from the list', value: 'N', required: true },
} as const

const rotate: Command = {
  noun: 'key',
  verb: 'rotate',
  summary: 'Create a key that replaces another one, with the same kind and name; it is shown once',
  help: ['The old key works until you revoke it. `key list` shows when it was last used.'],
  examples: ['key rotate --project ID --key 7'],
  options,
  async run(options, context) {
    const owner = await requireProject(textOf(options, 'project'), context)
    const keyId = requireKeyId(options)
    // No cache can contain the new key, and the old one stays valid.
    const deps = { ...context, announce: () => {} }
    const rotated = await rotateKey(context.db, operatorOf(context), { project: owner, keyId }, deps).catch(
      explainMissing(`the project has no key ${keyId} that is neither revoked nor replaced`),
    )
    const created = { ...rotated, replaces: keyId }
    return { json: created, text: lines(created) }
  },
}

const revoke: Command = {
  noun: 'key',
  verb: 'revoke',
  summary: 'Revoke a key; it stops working within five seconds',
  options,
  async run(options, context) {
    const owner = await requireProject(textOf(options, 'project'), context)
    const keyId = requireKeyId(options)
    const changes: CacheChange[] = []
    const deps = { announce: (change: CacheChange) => void changes.push(change) }
    await revokeKey(context.db, operatorOf(context), { project: owner, keyId }, deps).catch(
      explainMissing(`the project has no key ${keyId}`),
    )
    const isAnnounced = await announceOnce(context.config.amqpUrl, changes)
    const late = isAnnounced ? '' : '; the broker cannot be reached: a ping key may work for another 30 seconds'
    return { json: { revoked: keyId }, text: `revoked key ${keyId}${late}` }
  },
}

export const keyCommands: readonly Command[] = [create, list, rotate, revoke]

/** @throws UsageError without a whole number */
function requireKeyId(options: Options): number {
  const keyId = numberOf(options, 'key')
  if (keyId === null) throw new UsageError('--key is missing')
  return keyId
}

/** Returns a handler that throws a UsageError with the message instead of a NotFoundError. */
function explainMissing(message: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof NotFoundError ? new UsageError(message) : error
  }
}

function use(at: Date | null): string {
  return at?.toISOString() ?? 'never'
}
