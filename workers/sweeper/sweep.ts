import type { Barriers } from '#shared/platform/broker/barrier.ts'
import type { Micros } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'
import type { Work } from './glance-store.ts'

export interface Tick {
  deps: WorkerDeps
  barriers: Pick<Barriers, 'answering'>
  /** by the database's clock */
  now: Micros
  /** after a start, a jump of the clock or an outage of the database: deadlines are not evaluated */
  isUnsettled?: boolean
  /** problems of the other sweeps in this process: not finished since the start, late, or reported by `problems` */
  otherProblems?(): string[]
}

/** Periodic search for work. Any number of processes may run it at once. */
export interface Sweep {
  name: string
  everySeconds: number
  /**
   * The member of the glance that reports possible work. While it reports none, the sweep runs once more, and then at
   * intervals of `quietSeconds`.
   */
  work?: keyof Work
  quietSeconds?: number
  run(tick: Tick): Promise<void>
  /** reasons why a sweep that ended did not do all its work; omits reasons younger than `maxWaitSeconds` */
  problems?(maxWaitSeconds: number): string[]
}
