/** Keeps a minimum interval between batches, so that dense messages share a transaction. */
export interface BatchTimer {
  /** Resolves when the interval since the previous batch is over, or when `flush` is called. */
  waitForNextBatch(): Promise<void>
  /** Ends the current or the next wait, because a message must be handled immediately. */
  flush(): void
}

/** The first wait ends immediately. */
export function createBatchTimer(intervalMs: number): BatchTimer {
  let previousAt = Number.NEGATIVE_INFINITY
  let isFlushed = false
  let endWait: () => void = () => {}

  return {
    async waitForNextBatch() {
      const leftMs = previousAt + intervalMs - performance.now()
      if (leftMs > 0 && !isFlushed) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, leftMs)
          endWait = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      isFlushed = false
      previousAt = performance.now()
    },
    flush() {
      isFlushed = true
      endWait()
    },
  }
}
