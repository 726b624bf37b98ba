/**
 * Does together what arrives together: the first item starts at once, those that come while a batch is under way wait
 * and form the next one. So a quiet worker waits for nothing, and a busy one makes one round trip for many.
 * @param work gives one result per item, in order
 * @param largest items of one batch at most
 */
export function gatherBatches<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  largest: number,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = []
  let isBusy = false

  async function run(): Promise<void> {
    isBusy = true
    for (let batch = waiting.splice(0, largest); batch.length > 0; batch = waiting.splice(0, largest))
      await settle(batch)
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
      for (const { reject } of batch) reject(error)
    }
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    waiting.push({ item, resolve, reject })
    if (!isBusy) void run()
    return promise
  }
}

interface Waiting<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}
