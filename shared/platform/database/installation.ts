import type { Knex } from 'knex'
import { describeError, type Log } from '../process/log.ts'
import { pendingMigrations } from './migrate.ts'
import { agreeOnShards } from './ping-shards.ts'

/**
 * Whether this process fits the installation it is part of: the schema has its migrations, and all processes agree on
 * the number of ping queues. One that does not fit would refuse, lose or falsely miss what others do right.
 */
export interface Installation extends AsyncDisposable {
  /** Why this process must not work, and both numbers where they differ; empty when it fits. */
  problems(): string[]
  /** Resolves once it was asked for the first time, whatever the answer. */
  asked(): Promise<void>
  /** Calls at once and at every change; an outage of the database changes nothing. */
  onChange(listener: (fits: boolean) => void): void
}

/** Within it a process notices that the number of ping queues was changed. */
export const LOOK_EVERY_MS = 2_000

/** Starts to ask at once, and goes on asking. @param own PING_SHARDS of this process */
export function openInstallation(db: Knex, own: number, log: Log): Installation {
  const listeners = new Set<(fits: boolean) => void>()
  const asked = Promise.withResolvers<void>()
  let problems = ['database: was not asked yet whether this process fits its schema']
  let isSchemaKnown = false
  let isClosing = false
  let timer: NodeJS.Timeout | null = null
  let looking = look()

  async function look(): Promise<void> {
    try {
      tell(await findProblems())
    } catch (error) {
      log.debug(describeError(error), 'installation.not-asked')
    }
    asked.resolve()
    if (isClosing) return
    timer = setTimeout(() => {
      looking = look()
    }, LOOK_EVERY_MS)
    timer.unref()
  }

  async function findProblems(): Promise<string[]> {
    // A schema never becomes older while we run, so the question is asked until it is answered well once.
    const pending = isSchemaKnown ? [] : await pendingMigrations(db)
    if (pending.length > 0) return [`database: ${pending.length} migrations are pending`]
    isSchemaKnown = true
    const { shards } = await agreeOnShards(db, own)
    if (shards === own) return []
    return [`PING_SHARDS: is ${own} here, and ${shards} in this installation (admin shards show)`]
  }

  function tell(found: string[]): void {
    const hasChanged = (found.length === 0) !== (problems.length === 0)
    if (found.length > 0 && found.join() !== problems.join())
      log.error({ problems: found }, 'installation.does-not-fit')
    problems = found
    if (hasChanged) for (const listener of listeners) listener(found.length === 0)
  }

  return {
    problems: () => problems,
    asked: () => asked.promise,
    onChange(listener) {
      listeners.add(listener)
      listener(problems.length === 0)
    },
    async [Symbol.asyncDispose]() {
      isClosing = true
      if (timer) clearTimeout(timer)
      await looking
    },
  }
}
