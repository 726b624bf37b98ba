import type { Barriers } from '#shared/platform/broker/barrier.ts'
import type { Micros } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'

/** Input of a sweep. */
export interface Tick {
  deps: WorkerDeps
  barriers: Pick<Barriers, 'answering'>
  /** the database's clock, with which deadlines are compared */
  now: Micros
  /** true for a while after a start, a jump of the clock or an outage of the database: deadlines are not evaluated */
  isUnsettled?: boolean
  /** problems of the other sweeps of this process: not finished since the start, late, or failed */
  ills?(): string[]
}

/** Periodic search for work. Any number of processes may run it at once. */
export interface Sweep {
  name: string
  everySeconds: number
  run(tick: Tick): Promise<void>
  /** reasons why a completed sweep is not complete; those younger than `maxWaitSeconds` are left out */
  problems?(maxWaitSeconds: number): string[]
}
