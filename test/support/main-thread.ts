/** Measures how long the event loop of this process was blocked, independent of other work on the machine. */
export interface BlockedLoop {
  /** milliseconds of this thread's own processor time in its longest turn since the start */
  longestMs(): number
  stop(): void
}

/**
 * Watches the turns of the event loop by the processor time that this thread used in each: other processes on the
 * machine, and other threads of this one, make a turn longer but not dearer.
 */
export function watchLoop(): BlockedLoop {
  let longest = 0
  let before = process.threadCpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    longest = Math.max(longest, (user + system) / 1000)
    before = process.threadCpuUsage()
  }, 1)
  return { longestMs: () => longest, stop: () => clearInterval(timer) }
}
