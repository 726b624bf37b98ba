export interface BatchOptions {
  /** items of one batch at most */
  largest: number
  /**
   * When the first item of a quiet time starts: at once by default. `queueMicrotask` and `setImmediate` let what else
   * the caller, or the turn of the event loop, has to add come along.
   */
  start?: (run: () => void) => void
  /** A batch that fails is tried again item by item: the one at fault takes no neighbours along. */
  isolate?: boolean
}

/**
 * Does together what arrives together: those items that come while a batch is under way wait and form the next one. So a
 * quiet process waits for nothing, and a busy one makes one round trip for many.
 *
 * The ping path has its own batches: `ingress/ping-path/batcher.ts` has several messages in flight, bounded by bytes and in
 * order per shard; the check cache repeats a lookup that hangs; the evaluator acknowledges what it gathers. Counters and
 * announcements, which have no result, wait for a time instead (`live-announcer.ts`, `usage-counters.ts`).
 *
 * @param work gives one result per item, in order
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
