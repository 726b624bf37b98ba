/**
 * Does `work` at each full interval of the clock, one at a time; what takes longer than an interval skips the ones it
 * missed. Disposing waits for the work under way.
 * @param work returns true to be called again at once; must not throw
 */
export function every(intervalMs: number, work: () => Promise<boolean>): AsyncDisposable {
  let isStopping = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  function schedule(): void {
    if (isStopping) return
    // Aligned to the clock, not to the last call: when a checkpoint appears says nothing about when work came.
    timer = setTimeout(
      () => {
        running = run()
      },
      intervalMs - (Date.now() % intervalMs),
    )
  }

  async function run(): Promise<void> {
    while (await work()) if (isStopping) break
    schedule()
  }

  schedule()
  return {
    async [Symbol.asyncDispose]() {
      isStopping = true
      clearTimeout(timer)
      await running
    },
  }
}
