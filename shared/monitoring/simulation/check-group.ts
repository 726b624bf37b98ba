import { type Micros, microsOfSeconds } from '../../time.ts'
import type { Plan } from '../alerting/policy.ts'

/** `until` is null while the outage lasts. */
export interface Outage {
  from: Micros
  until: Micros | null
}

/** Outages within one grouping delay (docs/spec/alerting.md#policies). */
interface Gathering {
  delayEndsAt: Micros
  outages: readonly Outage[]
}

export class CheckGroup {
  readonly #group: Plan['group']
  readonly #outages: readonly Outage[]

  constructor({ when, group }: Pick<Plan, 'when' | 'group'>, outages: readonly Outage[]) {
    const delay = microsOfSeconds(when.down_for)
    this.#group = group
    this.#outages = outages
      .map(({ from, until }) => ({ from: from + delay, until }))
      .filter(({ from, until }) => until === null || until > from)
      .sort((a, b) => a.from - b.from)
  }

  delayEndsAt(at: Micros): Micros | null {
    const delayEndsAt = this.#gathering(at).delayEndsAt
    return delayEndsAt > at ? delayEndsAt : null
  }

  sizeAt(alertAt: Micros, now: Micros): number | null {
    if (this.#group.within === 0) return null
    const size = 1 + this.#gathering(alertAt).outages.filter(({ until }) => until === null || until > now).length
    return size >= this.#group.checks ? size : null
  }

  /** Includes the simulated check. */
  recoveredAt(alertAt: Micros, upAt: Micros, within: Micros): number {
    const { outages } = this.#gathering(alertAt)
    return 1 + outages.filter(({ until }) => until !== null && Math.abs(until - upAt) <= within).length
  }

  #gathering(at: Micros): Gathering {
    const within = microsOfSeconds(this.#group.within)
    let delayEndsAt = Number.NEGATIVE_INFINITY
    let begun = Number.NEGATIVE_INFINITY
    for (const { from } of this.#outages) {
      if (from > at) break
      if (from <= delayEndsAt) continue
      begun = from
      delayEndsAt = from + within
    }
    if (at > delayEndsAt) {
      begun = at
      delayEndsAt = at + within
    }
    return { delayEndsAt, outages: this.#outages.filter(({ from }) => from >= begun && from <= delayEndsAt) }
  }
}
