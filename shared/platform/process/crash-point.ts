/** Kills like a power cut (`CRASH_AT`, refused in production). With a suffix `:n` only the n-th passage does. */
export function createCrashPoints(crashAt: string | undefined): (point: string) => void {
  if (crashAt === undefined) return () => {}
  const [name, nth = '1'] = crashAt.split(':')
  let left = Number(nth)
  return (point) => {
    if (point !== name) return
    left -= 1
    if (left === 0) process.kill(process.pid, 'SIGKILL')
  }
}
