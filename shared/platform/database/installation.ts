import type { Knex } from 'knex'
import type { PingGeneration } from '../../contracts/ping-generations.ts'
import type { Log } from '../process/log.ts'
import { type WatchedProblems, watchProblems } from '../process/watched-problems.ts'
import { schemaProblem } from './migrate.ts'
import { ensureGenerations, KNOWS_FOR_MS } from './ping-shards.ts'

/** Without this knowledge a process must not work, because it would refuse, lose or wrongly miss pings. */
export interface Installation extends WatchedProblems {
  /** Empty before the first query, then oldest first. A database outage does not change it. */
  generations(): readonly PingGeneration[]
  onGenerations(listener: (live: readonly PingGeneration[]) => void): void
}

export const POLL_EVERY_MS = 2_000

/** Starts to poll immediately. `own` is PING_SHARDS of this process, for a new installation. */
export function openInstallation(db: Knex, own: number, log: Log, wallMs: () => number = Date.now): Installation {
  const followers = new Set<(live: readonly PingGeneration[]) => void>()
  let isSchemaKnown = false
  let live: readonly PingGeneration[] = []
  /** time of the last successful query: one clock stops while the machine sleeps, the other may be adjusted */
  let known = { monotonic: performance.now(), wall: wallMs() }
  const watched = watchProblems({
    find: findProblems,
    intervalMs: POLL_EVERY_MS,
    initial: 'database: its schema was not compared with this process yet',
    log,
    events: { failed: 'installation.not-checked', found: 'installation.not-compatible' },
  })

  async function findProblems(): Promise<string[]> {
    // The schema never loses migrations while we run, so one successful check is enough.
    const problem = isSchemaKnown ? null : await schemaProblem(db)
    if (problem !== null) return [`database: ${problem}`]
    isSchemaKnown = true
    const sent = { monotonic: performance.now(), wall: wallMs() }
    follow(await ensureGenerations(db, own))
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
      // After this time the known queues may be retired (docs/adr/0007).
      const problems = watched.problems()
      return age > KNOWS_FOR_MS ? [...problems, 'database: ping queues were not read for a day'] : problems
    },
    generations: () => live,
    onGenerations: (follower) => void followers.add(follower),
  }
}
