/**
 * Does together what arrives together: the first item starts at once, those that come while a turn is under way wait
 * and form the next one. So a quiet worker waits for nothing, and a busy one makes one round trip for many.
 * @param work gives one result per item, in order
 * @param largest items of one turn at most
 */
export function gatherTurns<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  largest: number,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = []
  let isBusy = false

  async function run(): Promise<void> {
    isBusy = true
    for (let turn = waiting.splice(0, largest); turn.length > 0; turn = waiting.splice(0, largest)) await settle(turn)
    isBusy = false
  }

  async function settle(turn: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await work(turn.map(({ item }) => item))
      for (const [index, { resolve, reject }] of turn.entries()) {
        const result = results[index]
        if (result === undefined) reject(new Error('a turn gave too few results'))
        else resolve(result)
      }
    } catch (error) {
      for (const { reject } of turn) reject(error)
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
