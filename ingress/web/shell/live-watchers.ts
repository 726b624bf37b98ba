import type { Response } from 'express'
import type { Knex } from 'knex'
import type { CacheChange, LiveChange } from '#shared/contracts/ingress-messages.ts'
import { projectsOfChecks } from '#shared/monitoring/pages/check-list-store.ts'
import { describeError, type Log } from '#shared/platform/process/log.ts'
import { liveSessionsOf } from '#shared/tenancy/accounts/session-store.ts'

/** Announcements within this time share one query. */
const GATHER_MS = 300
/** Minimum interval between reloads of a page. */
const PAUSE_AFTER_CHANGE_MS = 2_000
/** Minimum interval between queries that found no change. */
const PAUSE_MS = 500
/** Polls without an announcement, because one may be lost, and proxies cut connections that are idle for a minute. */
const POLL_ANYWAY_MS = 30_000
/** An open page then reconnects automatically. */
const MAX_MS = 15 * 60_000
const MAX_WATCHERS = 5_000

interface Gathered {
  checks: Set<number>
  uuids: Set<string>
  integrations: Set<number>
  projects: Set<number>
}

export interface Topic {
  name: string
  organisationId: number
  /** present for topics about all checks of a project */
  projectId?: number
  isConcerned(gathered: Gathered): boolean
  /** `fingerprint` changes with the contents of the page */
  read(): Promise<{ fingerprint: string; isDown: boolean }>
}

interface Watched {
  topic: Topic
  /** by response, with the id of the session */
  watchers: Map<Response, number>
  fingerprint: string
  endsAt: number
  /** earliest time of the next query, in milliseconds since 1970 */
  pausedUntil: number
  isQuerying: boolean
  /** true if a change was announced during the running query */
  isDue: boolean
  timer: NodeJS.Timeout | null
}

/** Tracks the open pages of a process. Pages of a topic share one query, so a thousand pages cost one small query. */
export class Watchers {
  readonly #db: Knex
  readonly #log: Log
  readonly #watched = new Map<string, Watched>()
  #gathered: Gathered | null = null
  #isAll = false

  constructor({ db, log, onLive }: WatchersDeps) {
    this.#db = db
    this.#log = log
    onLive((change) => this.#gather(change))
  }

  isFull(): boolean {
    return [...this.#watched.values()].reduce((sum, { watchers }) => sum + watchers.size, 0) >= MAX_WATCHERS
  }

  /**
   * @param sessionId events end when its user signs out, leaves the organisation or gets other rights
   * @param seen fingerprint of the page's contents; if it has changed, the page is notified at once
   */
  async add(response: Response, topic: Topic, sessionId: number, seen: string): Promise<void> {
    if (response.destroyed) return
    const known = this.#watched.get(topic.name)
    const watched = known ?? this.#begin(topic, seen)
    watched.watchers.set(response, sessionId)
    response.once('close', () => this.#remove(watched, response))
    if (!known) {
      await this.#query(watched)
      return
    }
    const { fingerprint, isDown } = await topic.read()
    if (fingerprint !== seen) response.write(changed(isDown))
  }

  #gather(change: LiveChange | CacheChange): void {
    if (this.#watched.size === 0) return
    if (!this.#gathered) {
      this.#gathered = { checks: new Set(), uuids: new Set(), integrations: new Set(), projects: new Set() }
      // Open pages must not keep a process from stopping.
      setTimeout(() => void this.#notify(), GATHER_MS).unref()
    }
    if ('kind' in change) {
      this.#gathered.projects.add(change.projectId)
      if (change.kind === 'check') this.#gathered.uuids.add(change.uuid)
    } else if ('all' in change) {
      this.#isAll = true
    } else {
      for (const id of change.checks) this.#gathered.checks.add(id)
      for (const id of change.integrations) this.#gathered.integrations.add(id)
    }
  }

  async #notify(): Promise<void> {
    if (!this.#gathered) return
    const notified = this.#gathered
    const isAll = this.#isAll
    this.#gathered = null
    this.#isAll = false
    if (!isAll) await this.#addProjects(notified)
    for (const watched of this.#watched.values())
      if (isAll || watched.topic.isConcerned(notified)) this.#queryAgain(watched)
  }

  async #addProjects(notified: Gathered): Promise<void> {
    if (notified.checks.size === 0) return
    if (![...this.#watched.values()].some(({ topic }) => topic.projectId !== undefined)) return
    try {
      for (const id of await projectsOfChecks(this.#db, [...notified.checks])) notified.projects.add(id)
    } catch (error) {
      this.#log.warn(describeError(error), 'live.projects-not-found')
    }
  }

  #begin(topic: Topic, seen: string): Watched {
    const watched: Watched = {
      topic,
      watchers: new Map(),
      fingerprint: seen,
      endsAt: Date.now() + MAX_MS,
      pausedUntil: 0,
      isQuerying: false,
      isDue: false,
      timer: null,
    }
    this.#watched.set(topic.name, watched)
    return watched
  }

  #remove(watched: Watched, response: Response): void {
    watched.watchers.delete(response)
    if (watched.watchers.size > 0) return
    if (watched.timer) clearTimeout(watched.timer)
    if (this.#watched.get(watched.topic.name) === watched) this.#watched.delete(watched.topic.name)
  }

  #queryAgain(watched: Watched): void {
    watched.isDue = true
    if (!watched.isQuerying) this.#queryIn(watched, watched.pausedUntil - Date.now())
  }

  #queryIn(watched: Watched, ms: number): void {
    if (watched.timer) clearTimeout(watched.timer)
    if (watched.watchers.size === 0) return
    watched.timer = setTimeout(() => void this.#query(watched), Math.max(0, ms))
    watched.timer.unref()
  }

  async #query(watched: Watched): Promise<void> {
    if (Date.now() >= watched.endsAt) {
      for (const response of watched.watchers.keys()) response.end()
      return
    }
    watched.isQuerying = true
    watched.isDue = false
    let pauseMs = PAUSE_MS
    try {
      const { fingerprint, isDown } = await watched.topic.read()
      await this.#endForeign(watched)
      const isChanged = fingerprint !== watched.fingerprint
      const text = isChanged ? changed(isDown) : ': still here\n\n'
      if (isChanged) pauseMs = PAUSE_AFTER_CHANGE_MS
      watched.fingerprint = fingerprint
      for (const response of watched.watchers.keys()) response.write(text)
    } catch (error) {
      this.#log.warn(describeError(error), 'live.query-failed')
    }
    watched.isQuerying = false
    watched.pausedUntil = Date.now() + pauseMs
    this.#queryIn(watched, watched.isDue ? pauseMs : POLL_ANYWAY_MS)
  }

  /** Closes connections whose session may no longer see the topic; runs before every notification. */
  async #endForeign(watched: Watched): Promise<void> {
    const { topic, watchers } = watched
    const live = await liveSessionsOf(this.#db, topic.organisationId, [...new Set(watchers.values())])
    for (const [response, sessionId] of [...watchers]) {
      if (live.has(sessionId)) continue
      this.#remove(watched, response)
      response.end()
    }
  }
}

interface WatchersDeps {
  db: Knex
  log: Log
  onLive(listener: (change: LiveChange | CacheChange) => void): void
}

function changed(isDown: boolean): string {
  return `event: changed\ndata: ${isDown ? 'down' : 'up'}\n\n`
}
