import { Throughput } from './throughput.ts'

/** Attempts at one target at a time. */
const PER_TARGET = 32
/** Of these, for one project: however much it sends, others find room. */
const PER_PROJECT = 24
/** Attempts of one project that wait here for one target. */
const WAITING_PER_PROJECT = 1_000
/** Attempts that wait here for all targets; less than the consumer takes, so that a wait never stops it. */
const WAITING = 2_000
/** So many of a project may wait for a target even so: others' crowds leave room for its few. */
const ALWAYS = 4
/** Longest wait in here: with the attempt itself it has to fit into the lease. */
const MAX_WAIT_MS = 25_000
/** The sweeper looks every second; and a target that recovers should not wait for hours. */
const STALE_MAX_AGE_MS = { least: 1_000, most: 300_000 }

/** A place, to be left when the attempt is over; or for how long to stay away, because too many wait already. */
export type Entry = { leave: () => void } | { comeBackInMs: number }

/**
 * Bounds the attempts under way per target, so that a slow one cannot take every place. The rest waits here, in turn
 * among the projects. What would have to wait too long is told when it may come back: one after the other, at the pace
 * at which the target takes them, not all together.
 */
export interface ConcurrencyLimiter {
  enter(target: string, projectId: number): Promise<Entry>
}

/**
 * @param maxWaitMs of one attempt in here
 * @param now monotonic milliseconds
 */
export function createConcurrencyLimiter(
  maxWaitMs = MAX_WAIT_MS,
  now: () => number = () => performance.now(),
): ConcurrencyLimiter {
  const targets = new Map<string, Target>()
  const total = { waiting: 0 }
  return {
    enter(name, projectId) {
      const target = targets.get(name) ?? new Target({ total, maxWaitMs, now, onIdle: () => targets.delete(name) })
      targets.set(name, target)
      return target.enter(projectId)
    },
  }
}

interface Project {
  underWay: number
  waiting: ((entry: Entry) => void)[]
  /** when the last that was sent away may come back; monotonic milliseconds */
  lastAt: number
}

interface TargetContext {
  /** over all targets */
  total: { waiting: number }
  maxWaitMs: number
  now: () => number
  onIdle: () => void
}

class Target {
  /** whoever is next comes first */
  readonly #projects = new Map<number, Project>()
  readonly #pace = new Throughput()
  readonly #context: TargetContext
  #underWay = 0
  #waiting = 0

  constructor(context: TargetContext) {
    this.#context = context
  }

  enter(projectId: number): Promise<Entry> {
    const project = this.#projects.get(projectId) ?? { underWay: 0, waiting: [], lastAt: 0 }
    this.#projects.set(projectId, project)
    if (this.#hasCapacity(project)) return Promise.resolve(this.#begin(projectId, project))
    if (!this.#mayWait(project)) return Promise.resolve(this.#away(project))
    return new Promise((resolve) => this.#wait(projectId, project, resolve))
  }

  #hasCapacity(project: Project): boolean {
    return this.#underWay < PER_TARGET && project.underWay < PER_PROJECT
  }

  #mayWait(project: Project): boolean {
    const count = project.waiting.length
    if (count < ALWAYS) return true
    return (
      this.#context.total.waiting < WAITING &&
      count < WAITING_PER_PROJECT &&
      this.#expectedWaitMs(project) < this.#context.maxWaitMs
    )
  }

  #expectedWaitMs(project: Project): number {
    return project.waiting.length * this.#pace.intervalMs
  }

  #wait(projectId: number, project: Project, resolve: (entry: Entry) => void): void {
    const settle = (entry: Entry) => {
      clearTimeout(timer)
      this.#count(-1)
      resolve(entry)
    }
    const timer = setTimeout(() => {
      project.waiting.splice(project.waiting.indexOf(settle), 1)
      settle(this.#away(project))
      this.#forgetIdle(projectId, project)
    }, this.#context.maxWaitMs)
    this.#count(1)
    this.#pace.waits(this.#context.now())
    project.waiting.push(settle)
  }

  #count(change: 1 | -1): void {
    this.#waiting += change
    this.#context.total.waiting += change
  }

  #away(project: Project): Entry {
    const now = this.#context.now()
    project.lastAt = Math.max(now + this.#expectedWaitMs(project), project.lastAt) + this.#pace.intervalMs
    return { comeBackInMs: Math.min(STALE_MAX_AGE_MS.most, Math.max(STALE_MAX_AGE_MS.least, project.lastAt - now)) }
  }

  #begin(projectId: number, project: Project): Entry {
    this.#underWay += 1
    project.underWay += 1
    return {
      leave: () => {
        this.#underWay -= 1
        project.underWay -= 1
        this.#pace.ended(this.#context.now(), this.#waiting > 0)
        this.#next()
        this.#forgetIdle(projectId, project)
      },
    }
  }

  /** Gives what is free to the projects that wait, one each in turn. */
  #next(): void {
    for (const [projectId, project] of this.#projects) {
      if (this.#underWay >= PER_TARGET) return
      if (project.waiting.length === 0 || !this.#hasCapacity(project)) continue
      const settle = project.waiting.shift()
      // To the end of the line; the loop comes by again while there is room.
      this.#projects.delete(projectId)
      this.#projects.set(projectId, project)
      settle?.(this.#begin(projectId, project))
    }
  }

  #forgetIdle(projectId: number, project: Project): void {
    if (project.underWay === 0 && project.waiting.length === 0) this.#projects.delete(projectId)
    if (this.#projects.size === 0) this.#context.onIdle()
  }
}
