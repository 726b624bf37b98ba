/** Lets what comes dense be handled together; what comes alone is handled at once. */
export interface Gathering {
  /** Resolves at once when the last turn began a while ago, else when that while is over or somebody is in a hurry. */
  turn(): Promise<void>
  /** Ends the wait, and the next one before it begins: somebody waits for what has arrived. */
  hurry(): void
}

/** @param apartMs how far turns lie apart while more arrives all the time, in milliseconds */
export function createGathering(apartMs: number): Gathering {
  let begunAt = Number.NEGATIVE_INFINITY
  let isHurried = false
  let end: () => void = () => {}

  return {
    async turn() {
      const leftMs = begunAt + apartMs - performance.now()
      if (leftMs > 0 && !isHurried) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, leftMs)
          end = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      isHurried = false
      begunAt = performance.now()
    },
    hurry() {
      isHurried = true
      end()
    },
  }
}
