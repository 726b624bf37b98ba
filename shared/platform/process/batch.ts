export interface BatchOptions {
  largest: number
  /** Immediately by default. `queueMicrotask` or `setImmediate` include items of the same event-loop iteration. */
  start?: (run: () => void) => void
  /** Retries a failed batch item by item, so that one bad item does not fail the others. */
  isolate?: boolean
}

/**
 * Items that arrive during a batch form the next one: an idle process does not delay an item, a busy one makes one
 * round trip for many. `work` returns one result per item, in order.
 */
export function batched<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  { largest, start = (run) => run(), isolate = false }: BatchOptions,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let isBusy = false

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, largest)
      waiting = waiting.slice(largest)
      await settle(batch)
    }
    isBusy = false
  }

  async function settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await work(batch.map(({ item }) => item))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result === undefined) reject(new Error('a batch gave too few results'))
        else resolve(result)
      }
    } catch (error) {
      if (isolate && batch.length > 1) for (const one of batch) await settle([one])
      else for (const { reject } of batch) reject(error)
    }
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    waiting.push({ item, resolve, reject })
    if (!isBusy) {
      isBusy = true
      start(() => void run())
    }
    return promise
  }
}

interface Waiting<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}
