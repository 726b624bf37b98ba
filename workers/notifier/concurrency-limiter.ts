const PER_TARGET = 32
/** Other projects always find a slot at the target. */
const PER_PROJECT = 24
const MAX_WAITING_PER_PROJECT = 1_000
/** For all targets. Below the prefetch of the consumer, so that it never stops. */
const MAX_WAITING = 2_000
/** A project may have so many even if other projects have reached a limit. */
const ALWAYS_WAITING = 4
/** Wait and attempt together must fit into the lease of the notification. */
const MAX_WAIT_MS = 25_000
/** The sweeper looks for due notifications every second. A target that recovers must not wait for hours. */
const RETRY_MS = { min: 1_000, max: 300_000 }

/** Release the slot after the attempt; `retryInMs` means that too many attempts wait. */
export type Acquired = { release: () => void } | { retryInMs: number }

/**
 * A slow target cannot use all attempts of the process. Waiting projects get free slots round-robin. Rejects attempts
 * that would wait too long; their retry times are spaced by the target's throughput.
 */
export class ConcurrencyLimiter {
  readonly #targets = new Map<string, Target>()
  readonly #total = { waiting: 0 }
  readonly #maxWaitMs: number
  readonly #now: () => number

  /** `now` is in monotonic milliseconds. */
  constructor(maxWaitMs = MAX_WAIT_MS, now: () => number = () => performance.now()) {
    this.#maxWaitMs = maxWaitMs
    this.#now = now
  }

  acquire(name: string, projectId: number): Promise<Acquired> {
    const target = this.#targets.get(name) ?? this.#createTarget(name)
    this.#targets.set(name, target)
    return target.acquire(projectId)
  }

  #createTarget(name: string): Target {
    const onIdle = () => this.#targets.delete(name)
    return new Target({ total: this.#total, maxWaitMs: this.#maxWaitMs, now: this.#now, onIdle })
  }
}

interface Project {
  active: number
  waiting: ((acquired: Acquired) => void)[]
  /** given out, in monotonic milliseconds */
  lastRetryAt: number
}

interface TargetContext {
  total: { waiting: number }
  maxWaitMs: number
  now: () => number
  onIdle: () => void
}

class Target {
  readonly #projects = new Map<number, Project>()
  readonly #throughput = new Throughput()
  readonly #context: TargetContext
  #active = 0
  #waiting = 0

  constructor(context: TargetContext) {
    this.#context = context
  }

  acquire(projectId: number): Promise<Acquired> {
    const project = this.#projects.get(projectId) ?? { active: 0, waiting: [], lastRetryAt: 0 }
    this.#projects.set(projectId, project)
    if (this.#hasSlot(project)) return Promise.resolve(this.#start(projectId, project))
    if (!this.#mayWait(project)) return Promise.resolve(this.#reject(project))
    return new Promise((resolve) => this.#wait(projectId, project, resolve))
  }

  #hasSlot(project: Project): boolean {
    return this.#active < PER_TARGET && project.active < PER_PROJECT
  }

  #mayWait(project: Project): boolean {
    const count = project.waiting.length
    if (count < ALWAYS_WAITING) return true
    return (
      this.#context.total.waiting < MAX_WAITING &&
      count < MAX_WAITING_PER_PROJECT &&
      this.#expectedWaitMs(project) < this.#context.maxWaitMs
    )
  }

  #expectedWaitMs(project: Project): number {
    return project.waiting.length * this.#throughput.intervalMs
  }

  #wait(projectId: number, project: Project, resolve: (acquired: Acquired) => void): void {
    const settle = (acquired: Acquired) => {
      clearTimeout(timer)
      this.#countWaiting(-1)
      resolve(acquired)
    }
    const timer = setTimeout(() => {
      project.waiting.splice(project.waiting.indexOf(settle), 1)
      settle(this.#reject(project))
      this.#removeIdle(projectId, project)
    }, this.#context.maxWaitMs)
    this.#countWaiting(1)
    this.#throughput.attemptWaits(this.#context.now())
    project.waiting.push(settle)
  }

  #countWaiting(change: 1 | -1): void {
    this.#waiting += change
    this.#context.total.waiting += change
  }

  #reject(project: Project): Acquired {
    const now = this.#context.now()
    const { intervalMs } = this.#throughput
    project.lastRetryAt = Math.max(now + this.#expectedWaitMs(project), project.lastRetryAt) + intervalMs
    return { retryInMs: Math.min(RETRY_MS.max, Math.max(RETRY_MS.min, project.lastRetryAt - now)) }
  }

  #start(projectId: number, project: Project): Acquired {
    this.#active += 1
    project.active += 1
    return {
      release: () => {
        this.#active -= 1
        project.active -= 1
        this.#throughput.attemptEnded(this.#context.now(), this.#waiting > 0)
        this.#startWaiting()
        this.#removeIdle(projectId, project)
      },
    }
  }

  #startWaiting(): void {
    for (const [projectId, project] of this.#projects) {
      if (this.#active >= PER_TARGET) return
      if (project.waiting.length === 0 || !this.#hasSlot(project)) continue
      const settle = project.waiting.shift()
      // Moves the project to the end of the map; the loop reaches it again while slots are free.
      this.#projects.delete(projectId)
      this.#projects.set(projectId, project)
      settle?.(this.#start(projectId, project))
    }
  }

  #removeIdle(projectId: number, project: Project): void {
    if (project.active === 0 && project.waiting.length === 0) this.#projects.delete(projectId)
    if (this.#projects.size === 0) this.#context.onIdle()
  }
}

const DECAY_MS = 2_000
/** A new target starts with 240 attempts in 200 ms. */
const FIRST_GUESS = { busyMs: 200, ended: 240 }

/** Uses ends of attempts while others wait. In a burst most of a duration is the notifier's own work. */
class Throughput {
  #busyMs = FIRST_GUESS.busyMs
  #ended = FIRST_GUESS.ended
  /** attempts wait and none has ended since; null while none waits */
  #since: number | null = null

  /** `now` is in monotonic milliseconds, here and below. */
  attemptWaits(now: number): void {
    this.#since ??= now
  }

  attemptEnded(now: number, isWaiting: boolean): void {
    if (this.#since !== null) {
      const busyMs = now - this.#since
      const weight = Math.exp(-busyMs / DECAY_MS)
      this.#busyMs = this.#busyMs * weight + busyMs
      this.#ended = this.#ended * weight + 1
    }
    this.#since = isWaiting ? now : null
  }

  get intervalMs(): number {
    return this.#busyMs / this.#ended
  }
}
