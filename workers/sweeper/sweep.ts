import type { Barriers } from '#shared/platform/broker/barrier.ts'
import type { Micros } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'
import type { PossibleWork } from './due-sweeps-store.ts'

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
   * The member of `PossibleWork` for this sweep. While it is false, the sweep runs once more, and then at intervals of
   * `idleSeconds`.
   */
  work?: keyof PossibleWork
  idleSeconds?: number
  run(tick: Tick): Promise<void>
  /** reasons why a sweep that ended did not do all its work; omits reasons younger than `maxWaitSeconds` */
  problems?(maxWaitSeconds: number): string[]
}
