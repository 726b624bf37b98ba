import { setImmediate } from 'node:timers/promises'

/** How long work over many items may go on before others have their turn, in milliseconds. */
const TURN_MS = 10

/** Work of one caller in turns. */
interface Turns {
  /** Gives up the event loop if the present turn is over. */
  rest(): Promise<void>
  /** how many turns it took until now */
  count(): number
}

/**
 * Lets work whose length grows with what is stored share the event loop: called between two items it gives up the loop
 * once the present turn is longer than 10 ms, and returns at once before that.
 */
export function createTurns(): Turns {
  let began = performance.now()
  let count = 1
  return {
    async rest() {
      if (performance.now() - began < TURN_MS) return
      await setImmediate()
      began = performance.now()
      count += 1
    },
    count: () => count,
  }
}

/** Runs work to its end in turns; at each of its yields the event loop may go on. */
export async function runInTurns<Result>(work: Generator<undefined, Result>): Promise<Result> {
  const turns = createTurns()
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await turns.rest()
  }
}

/** As `items.map(change)`, in turns. */
export async function mapInTurns<In, Out>(items: Iterable<In>, change: (item: In) => Out): Promise<Out[]> {
  const turns = createTurns()
  const changed: Out[] = []
  for (const item of items) {
    changed.push(change(item))
    await turns.rest()
  }
  return changed
}
