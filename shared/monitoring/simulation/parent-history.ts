import { type Micros, microsOfSeconds } from '../../time.ts'
import type { StoredStatus } from '../checks/check.ts'
import { type Relatives, relativesOf, type TimedNode } from '../rules/parent-suppression.ts'
import type { Node } from '../rules/parents.ts'

export interface PastFlip {
  at: Micros
  to: StoredStatus
  reason: '' | 'fail' | 'timeout'
}

export interface PastNode extends Omit<Node, 'state'> {
  graceSeconds: number
  flips: readonly PastFlip[]
}

/** A parent counts as late in the grace time before a timeout. */
export class ParentHistory {
  readonly #child: Omit<Node, 'state'>
  readonly #above: readonly PastNode[]
  readonly #changes: readonly Micros[]

  constructor(child: Omit<Node, 'state'>, above: readonly PastNode[]) {
    this.#child = child
    this.#above = above
    this.#changes = above.flatMap(({ flips }) => flips.map(({ at }) => at)).sort((a, b) => a - b)
  }

  nextChange(after: Micros): Micros {
    return this.#changes.find((at) => at > after) ?? Number.POSITIVE_INFINITY
  }

  relativesAt(now: Micros): Relatives {
    const child: TimedNode = { ...this.#child, state: 'fine', isUp: false, downAt: null, upAt: null }
    return relativesOf([child, ...this.#above.map((node) => nodeAt(node, now))])
  }
}

function nodeAt({ graceSeconds, flips, ...node }: PastNode, now: Micros): TimedNode {
  const index = flips.findLastIndex(({ at }) => at <= now)
  const [last, next] = [flips[index], flips[index + 1]]
  const isDown = last?.to === 'down'
  const isLate =
    !isDown && next?.to === 'down' && next.reason === 'timeout' && now >= next.at - microsOfSeconds(graceSeconds)
  return {
    ...node,
    state: isDown ? 'down' : isLate ? 'late' : 'fine',
    isUp: last?.to === 'up',
    downAt: isDown ? last.at : null,
    upAt: flips.slice(0, index + 1).findLast(({ to }) => to === 'up')?.at ?? null,
  }
}
