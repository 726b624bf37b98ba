import { setImmediate } from 'node:timers/promises'

/** How long work over many items may go on before others have their turn, in milliseconds. */
const TURN_MS = 10

/**
 * Lets work whose length grows with what is stored share the event loop: called between two items it gives up the loop
 * once the present turn is longer than 10 ms, and returns at once before that.
 */
export function createTurns(): { rest(): Promise<void> } {
  let began = performance.now()
  return {
    async rest() {
      if (performance.now() - began < TURN_MS) return
      await setImmediate()
      began = performance.now()
    },
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
