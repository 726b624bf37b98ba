import { type Micros, microsOfSeconds } from '../../time.ts'
import type { Plan } from '../alerting/policy.ts'

/** When another check of the same policy was down; `until` is null while it is. */
export interface Outage {
  from: Micros
  until: Micros | null
}

/** Outages of one policy that wait for each other (docs/spec/alerting.md#policies, groups). */
interface Gathering {
  opensAt: Micros
  /** those of the other checks */
  outages: readonly Outage[]
}

/** What the other checks of a policy did meanwhile: whether an outage is told by itself or in a digest. */
export class CheckGroup {
  readonly #group: Plan['group']
  readonly #outages: readonly Outage[]

  /** @param outages of the other checks that the policy applies to, in any order */
  constructor({ when, group }: Pick<Plan, 'when' | 'group'>, outages: readonly Outage[]) {
    const delay = microsOfSeconds(when.down_for)
    this.#group = group
    this.#outages = outages
      .map(({ from, until }) => ({ from: from + delay, until }))
      .filter(({ from, until }) => until === null || until > from)
      .sort((a, b) => a.from - b.from)
  }

  /** When the first messages of outages that began about an instant may go; null when none of others waits then. */
  opensAt(at: Micros): Micros | null {
    const opensAt = this.#gathering(at).opensAt
    return opensAt > at ? opensAt : null
  }

  /** Of how many checks a digest would tell that are down at an instant; null when each is told by itself. */
  sizeAt(alertAt: Micros, now: Micros): number | null {
    if (this.#group.within === 0) return null
    const size = 1 + this.#gathering(alertAt).outages.filter(({ until }) => until === null || until > now).length
    return size >= this.#group.checks ? size : null
  }

  /** How many come up with a check that was told of in a digest, itself included. */
  recoveredAt(alertAt: Micros, upAt: Micros, within: Micros): number {
    const { outages } = this.#gathering(alertAt)
    return 1 + outages.filter(({ until }) => until !== null && Math.abs(until - upAt) <= within).length
  }

  #gathering(at: Micros): Gathering {
    const within = microsOfSeconds(this.#group.within)
    let opensAt = Number.NEGATIVE_INFINITY
    let begun = Number.NEGATIVE_INFINITY
    for (const { from } of this.#outages) {
      if (from > at) break
      if (from <= opensAt) continue
      begun = from
      opensAt = from + within
    }
    if (at > opensAt) {
      begun = at
      opensAt = at + within
    }
    return { opensAt, outages: this.#outages.filter(({ from }) => from >= begun && from <= opensAt) }
  }
}
