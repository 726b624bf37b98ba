import { killTree } from '../../stack/process-tree.ts'
import { type Progress, readProgress } from './progress-record.ts'

/** The limits of one run, in milliseconds without progress of a file. */
type StallLimits = {
  /** when the run says where it stands; a little more than the process's own limit, so that its words are there */
  reportAfterMs: number
  /** when its process is killed, so that the run goes on */
  killAfterMs: number
}

const stallLimits: StallLimits = { reportAfterMs: 55_000, killAfterMs: 240_000 }

/**
 * Watches the test processes of a run. A file without progress is reported with its pending tests and what they wait
 * for, and in the end its process and those it started are killed: AVA reports that as the file's failure.
 * @param folder where the processes record their progress
 * @returns call it to end the watch
 */
export function watchProgress(folder: string, report: (line: string) => void, limits = stallLimits): Disposable {
  const reported = new Map<number, string>()
  const killed = new Set<number>()
  const over = new Map<string, Progress>()
  const look = () => {
    const now = Date.now()
    // The latest of each pid: one that left without a word may have had the same.
    const latest = new Map(readProgress(folder, over).map((each) => [each.pid, each]))
    for (const each of latest.values()) {
      const silentMs = now - each.progressAt
      if (each.exited || silentMs < limits.reportAfterMs || !isAlive(each.pid)) continue
      // Told again where the process describes itself later, as one does on a machine that stood still.
      const state = `${each.progressAt} ${each.stalled !== undefined}`
      if (reported.get(each.pid) !== state) {
        reported.set(each.pid, state)
        report(stallText(each, silentMs))
      }
      if (silentMs < limits.killAfterMs || killed.has(each.pid)) continue
      killed.add(each.pid)
      void killTree(each.pid).then((count) => report(`killed the process of ${each.file} and ${count - 1} below it`))
    }
  }
  const timer = setInterval(look, Math.min(1_000, limits.reportAfterMs / 4))
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Where a file stands that does not get on: its tests in progress, what they wait for, and what keeps it open. */
export function stallText(progress: Progress, silentMs: number): string {
  const { file = `process ${progress.pid}`, running, ended, stalled } = progress
  const where =
    running.length > 0
      ? running.map((title) => `  in the test: ${title}`)
      : [
          ended.length === 0
            ? '  before its first test: loading, or in a before hook'
            : '  after a test: in an after hook',
        ]
  const details = stalled
    ? [
        ...stalled.awaited.map((fact) => `  waits for: ${fact}`),
        `  open: ${
          Object.entries(stalled.resources)
            .map(([name, count]) => `${count} ${name}`)
            .join(', ') || 'nothing'
        }`,
      ]
    : ['  its event loop is blocked: the process does not answer']
  return [`no progress for ${Math.round(silentMs / 1000)} s: ${file}`, ...where, ...details].join('\n')
}

/** The files that took longest, one line each. */
export function slowestFiles(progress: readonly Progress[], count: number): string[] {
  return progress
    .flatMap(({ file, startedAt, exited }) =>
      file && exited ? [{ file, seconds: (exited.at - startedAt) / 1000, cpu: exited.cpuSeconds }] : [],
    )
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, count)
    .map(
      ({ file, seconds, cpu }) => `${seconds.toFixed(1).padStart(7)} s  ${cpu.toFixed(1).padStart(6)} s CPU  ${file}`,
    )
}

/** A process that crashed wrote no exit. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
