import type { Response } from 'express'
import type { Knex } from 'knex'
import type { CacheChange } from '#shared/contracts/cache-change.ts'
import type { LiveChange } from '#shared/contracts/live-change.ts'
import { projectsOfChecks } from '#shared/monitoring/pages/check-list-store.ts'
import { describeError, type Log } from '#shared/platform/process/log.ts'
import { liveSessionsOf } from '#shared/tenancy/accounts/session-store.ts'

/** What is announced within this time is looked at together. */
const GATHER_MS = 300
/** However much changes, pages read themselves again no more often than this. */
const REST_AFTER_CHANGE_MS = 2_000
/** And however much is announced that turns out to change nothing. */
const REST_MS = 500
/** Without an announcement: one may have been lost. And proxies cut connections that say nothing for a minute. */
const LOOK_ANYWAY_MS = 30_000
/** A page that is left open reconnects by itself. */
const LONGEST_MS = 15 * 60_000
const MAX_WATCHERS = 5_000

/** What was announced since the last look. */
interface Gathered {
  checks: Set<number>
  uuids: Set<string>
  channels: Set<number>
  projects: Set<number>
}

/** Something that people watch. */
export interface Topic {
  name: string
  /** whose members may watch it */
  organisationId: number
  /** given when it is about all checks of a project */
  projectId?: number
  isConcerned(gathered: Gathered): boolean
  look(): Promise<{ mark: string; isDown: boolean }>
}

interface Watched {
  topic: Topic
  /** with the session that each was opened by */
  watchers: Map<Response, number>
  /** what the newest look saw */
  mark: string
  endsAt: number
  /** no look before this, in milliseconds since 1970 */
  restsUntil: number
  isLooking: boolean
  /** notified of a change that the look under way may not have seen */
  isDue: boolean
  timer: NodeJS.Timeout | null
}

/** The open pages of a process. */
export interface Watchers {
  isFull(): boolean
  /**
   * @param sessionId who watches: the events end when this session does, or its person leaves or gets other rights
   * @param seen the mark of what the page shows; when there is a newer one, it is told at once
   */
  add(response: Response, topic: Topic, sessionId: number, seen: string): Promise<void>
}

/** One look serves everybody who watches the same thing, so a thousand open pages cost one small query. */
export function createWatchers({
  db,
  log,
  onLive,
}: {
  db: Knex
  log: Log
  onLive(listener: (change: LiveChange | CacheChange) => void): void
}): Watchers {
  const things = new Map<string, Watched>()
  let gathered: Gathered | null = null
  let isAnything = false
  onLive(gather)

  return {
    isFull() {
      return [...things.values()].reduce((sum, { watchers }) => sum + watchers.size, 0) >= MAX_WATCHERS
    },
    async add(response, topic, sessionId, seen) {
      if (response.destroyed) return
      const known = things.get(topic.name)
      const watched = known ?? begin(topic, seen)
      watched.watchers.set(response, sessionId)
      response.once('close', () => remove(watched, response))
      if (!known) {
        await look(watched)
        return
      }
      const { mark, isDown } = await topic.look()
      if (mark !== seen) response.write(changed(isDown))
    },
  }

  function gather(change: LiveChange | CacheChange): void {
    if (things.size === 0) return
    if (!gathered) {
      gathered = { checks: new Set(), uuids: new Set(), channels: new Set(), projects: new Set() }
      // Open pages must not keep a process from stopping.
      setTimeout(() => void tell(), GATHER_MS).unref()
    }
    if ('kind' in change) {
      gathered.projects.add(change.projectId)
      if (change.kind === 'check') gathered.uuids.add(change.uuid)
    } else if ('all' in change) {
      isAnything = true
    } else {
      for (const id of change.checks) gathered.checks.add(id)
      for (const id of change.channels) gathered.channels.add(id)
    }
  }

  async function tell(): Promise<void> {
    if (!gathered) return
    const told = gathered
    const isAll = isAnything
    gathered = null
    isAnything = false
    try {
      if (!isAll && told.checks.size > 0 && [...things.values()].some(({ topic }) => topic.projectId !== undefined)) {
        for (const id of await projectsOfChecks(db, [...told.checks])) told.projects.add(id)
      }
    } catch (error) {
      log.warn(describeError(error), 'live.projects-not-found')
    }
    for (const watched of things.values()) if (isAll || watched.topic.isConcerned(told)) poke(watched)
  }

  function begin(topic: Topic, seen: string): Watched {
    const watched: Watched = {
      topic,
      watchers: new Map(),
      mark: seen,
      endsAt: Date.now() + LONGEST_MS,
      restsUntil: 0,
      isLooking: false,
      isDue: false,
      timer: null,
    }
    things.set(topic.name, watched)
    return watched
  }

  function remove(watched: Watched, response: Response): void {
    watched.watchers.delete(response)
    if (watched.watchers.size > 0) return
    if (watched.timer) clearTimeout(watched.timer)
    if (things.get(watched.topic.name) === watched) things.delete(watched.topic.name)
  }

  function poke(watched: Watched): void {
    watched.isDue = true
    if (!watched.isLooking) lookIn(watched, watched.restsUntil - Date.now())
  }

  function lookIn(watched: Watched, ms: number): void {
    if (watched.timer) clearTimeout(watched.timer)
    if (watched.watchers.size === 0) return
    watched.timer = setTimeout(() => void look(watched), Math.max(0, ms))
    watched.timer.unref()
  }

  /** Asked before anything is told: nobody hears of what they may no longer see. */
  async function endForeign(watched: Watched): Promise<void> {
    const { topic, watchers } = watched
    const live = await liveSessionsOf(db, topic.organisationId, [...new Set(watchers.values())])
    for (const [response, sessionId] of [...watchers]) {
      if (live.has(sessionId)) continue
      remove(watched, response)
      response.end()
    }
  }

  async function look(watched: Watched): Promise<void> {
    if (Date.now() >= watched.endsAt) {
      for (const response of watched.watchers.keys()) response.end()
      return
    }
    watched.isLooking = true
    watched.isDue = false
    let restMs = REST_MS
    try {
      const { mark, isDown } = await watched.topic.look()
      await endForeign(watched)
      const isChanged = mark !== watched.mark
      const text = isChanged ? changed(isDown) : ': still here\n\n'
      if (isChanged) restMs = REST_AFTER_CHANGE_MS
      watched.mark = mark
      for (const response of watched.watchers.keys()) response.write(text)
    } catch (error) {
      log.warn(describeError(error), 'live.look-failed')
    }
    watched.isLooking = false
    watched.restsUntil = Date.now() + restMs
    lookIn(watched, watched.isDue ? restMs : LOOK_ANYWAY_MS)
  }
}

function changed(isDown: boolean): string {
  return `event: changed\ndata: ${isDown ? 'down' : 'up'}\n\n`
}
