import type { Knex } from 'knex'
import type { Receivers } from './outages.ts'
import type { Kind, ManagedProcess } from './processes.ts'
import type { SoakServers } from './servers.ts'

/** The system under faults. */
export interface FaultStage {
  db: Knex
  servers: SoakServers
  processes: readonly ManagedProcess[]
  receivers: Receivers
  /** Runs an admin command. @throws Error with its output if it failed */
  admin(...args: string[]): Promise<void>
  /** returns a number from 0 to 1, from the seed */
  random(): number
  /** Waits for the duration of the fault. */
  hold(seconds: number): Promise<void>
}

export interface Fault {
  name: string
  /** the servers that the fault requires */
  needs?: 'cluster' | 'standby'
  /** Starts the fault, waits, and ends it. */
  run(stage: FaultStage): Promise<void>
  /** Step of the operator after the fault. Runs after the product has worked without it. */
  repair?(stage: FaultStage): Promise<void>
}

/** Returns a random element. */
export function oneOf<T>(all: readonly T[], { random }: Pick<FaultStage, 'random'>): T {
  const one = all[Math.floor(random() * all.length)]
  if (one === undefined) throw new Error('the list is empty')
  return one
}

/** Returns a random process of a kind. */
export const ofKind = (stage: FaultStage, kind: Kind) =>
  oneOf(
    stage.processes.filter((one) => one.kind === kind),
    stage,
  )

/** Freezes a process or server for a time. */
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
