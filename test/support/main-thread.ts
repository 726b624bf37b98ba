/** Measures how long the event loop of this process was blocked, independent of other work on the machine. */
export interface BlockedLoop {
  /** longest time since the start between two timers, in milliseconds of this thread's processor time */
  longestMs(): number
  stop(): void
}

/**
 * Measures processor time of this thread, because other processes on the machine and other threads of this process
 * delay the event loop without blocking it.
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
