/**
 * Ends the process as a power cut would, where a test asked for it (`CRASH_AT`, refused in production).
 * A suffix `:n` lets the first n-1 passages go by.
 */
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
