import type { Knex } from 'knex'
import type { Receivers } from './deaths.ts'
import type { Kept, Kind } from './processes.ts'
import type { SoakServers } from './servers.ts'

/** The system under faults. */
export interface FaultStage {
  db: Knex
  servers: SoakServers
  processes: readonly Kept[]
  receivers: Receivers
  /** A command of the operator. @throws Error with its output if it failed */
  admin(...args: string[]): Promise<void>
  /** a number from 0 to 1, of the seed */
  random(): number
  /** Seconds for which the fault stays. */
  hold(seconds: number): Promise<void>
}

export interface Fault {
  name: string
  /** does not exist with one broker, or without a standby */
  needs?: 'cluster' | 'standby'
  /** Brings it about, keeps it for a while, and ends it. */
  run(stage: FaultStage): Promise<void>
  /** The operator's step afterwards, once the product was seen to work without. */
  repair?(stage: FaultStage): Promise<void>
}

/** One of them, by the seed. */
export function oneOf<T>(all: readonly T[], { random }: Pick<FaultStage, 'random'>): T {
  const one = all[Math.floor(random() * all.length)]
  if (one === undefined) throw new Error('there is none to choose from')
  return one
}

/** A process of the kind, by the seed. */
export const ofKind = (stage: FaultStage, kind: Kind) =>
  oneOf(
    stage.processes.filter((one) => one.kind === kind),
    stage,
  )

/** A part that stalls for a given time, and then continues. */
export async function frozen(
  what: { freeze(isOn: boolean): void | Promise<void> },
  seconds: number,
  stage: FaultStage,
) {
  try {
    await what.freeze(true)
    await stage.hold(seconds)
  } finally {
    await what.freeze(false)
  }
}
