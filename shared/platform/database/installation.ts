import type { Knex } from 'knex'
import type { PingGeneration } from '../../contracts/ping-generations.ts'
import type { Log } from '../process/log.ts'
import { type WatchedProblems, watchProblems } from '../process/watched-problems.ts'
import { pendingMigrations } from './migrate.ts'
import { agreeOnGenerations, KNOWS_FOR_MS } from './ping-shards.ts'

/**
 * What this process knows of the installation it is part of: whether the schema has its migrations, and through which
 * queues pings go. One that does not know would refuse, lose or falsely miss what others do right, and must not work.
 */
export interface Installation extends WatchedProblems {
  /** Generations of ping queues, oldest first; empty before the database was asked. An outage of it changes nothing. */
  generations(): readonly PingGeneration[]
  /** Calls at every change of the generations. */
  onGenerations(listener: (live: readonly PingGeneration[]) => void): void
}

/** Within it a process notices that the number of ping queues was changed. */
export const POLL_EVERY_MS = 2_000

/**
 * Starts to ask at once, and goes on asking.
 * @param own PING_SHARDS of this process: the number of a new installation
 * @param wallMs the clock that may be set, in milliseconds
 */
export function openInstallation(db: Knex, own: number, log: Log, wallMs: () => number = Date.now): Installation {
  const followers = new Set<(live: readonly PingGeneration[]) => void>()
  let isSchemaKnown = false
  let live: readonly PingGeneration[] = []
  /** when the question was sent whose answer is known, on two clocks: one stands still in a sleep, the other may be set */
  let known = { monotonic: performance.now(), wall: wallMs() }
  const watched = watchProblems({
    find: findProblems,
    everyMs: POLL_EVERY_MS,
    unasked: 'database: was not requested yet whether this process fits its schema',
    log,
    events: { unanswered: 'installation.not-asked', found: 'installation.does-not-fit' },
  })

  async function findProblems(): Promise<string[]> {
    // A schema never becomes older while we run, so the question is asked until it is answered well once.
    const pending = isSchemaKnown ? [] : await pendingMigrations(db)
    if (pending.length > 0) return [`database: ${pending.length} migrations are pending`]
    isSchemaKnown = true
    const sent = { monotonic: performance.now(), wall: wallMs() }
    follow(await agreeOnGenerations(db, own))
    known = sent
    return []
  }

  function follow(found: readonly PingGeneration[]): void {
    if (JSON.stringify(found) === JSON.stringify(live)) return
    if (live.length > 0) log.info({ generations: found }, 'installation.ping-queues')
    live = found
    for (const follower of followers) follower(live)
  }

  return {
    ...watched,
    problems() {
      const age = Math.max(performance.now() - known.monotonic, wallMs() - known.wall)
      // After this time the queues that it knows may be retired (docs/adr/0007).
      const problems = watched.problems()
      return age > KNOWS_FOR_MS ? [...problems, 'database: has not said for a day where pings go'] : problems
    },
    generations: () => live,
    onGenerations: (follower) => void followers.add(follower),
  }
}
