import type { Barriers } from '#shared/platform/broker/barrier.ts'
import type { Micros } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'

/** What a sweep is given at each tick. */
export interface Tick {
  deps: WorkerDeps
  barriers: Pick<Barriers, 'answering'>
  /** the database's clock: deadlines are compared with it, not with that of one of many machines */
  now: Micros
  /** a start, a jump of the clock or a time without the database is not long ago: deadlines are not judged yet */
  isUnsettled?: boolean
  /** what is wrong with the other sweeps of this process: not once at their end since the start, late, or in vain */
  ills?(): string[]
}

/** Something that looks for what did not happen. Safe to run in any number of processes at once. */
export interface Sweep {
  name: string
  everySeconds: number
  run(tick: Tick): Promise<void>
  /** why it does not find everything, although it comes to its end; what is younger than `maxWaitSeconds` is left out */
  problems?(maxWaitSeconds: number): string[]
}
