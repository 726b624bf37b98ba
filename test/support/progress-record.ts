import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * One fact that a test process writes down. Times are milliseconds since 1970.
 * `stalled` is the process's own description of where it stands; it is written once per stall.
 */
export type ProgressEvent = { at: number } & (
  | { event: 'file'; file: string }
  | { event: 'start'; title: string }
  | { event: 'end'; title: string; passed: boolean }
  | { event: 'stalled'; awaited: readonly string[]; resources: Readonly<Record<string, number>> }
  | { event: 'exit'; cpuSeconds: number }
)

/** What a run knows about one test process from its events. */
export type Progress = {
  pid: number
  /** from the repository's root; absent in the instant before the process says it */
  file?: string
  startedAt: number
  /** when a hook or test last started or ended */
  progressAt: number
  /** titles of tests that started and did not end, in order */
  running: readonly string[]
  ended: readonly { title: string; passed: boolean }[]
  stalled?: { awaited: readonly string[]; resources: Readonly<Record<string, number>> }
  exited?: { at: number; cpuSeconds: number }
}

/**
 * Appends one event; each process has a file of its own in `folder`.
 * @param process its pid and when it began: a long run sees a pid more than once
 */
export function writeEvent(folder: string, process: { pid: number; since: number }, event: ProgressEvent): void {
  appendFileSync(join(folder, `${process.pid}.${process.since}.jsonl`), `${JSON.stringify(event)}\n`)
}

/**
 * The progress of every test process that wrote to `folder`, oldest first.
 * @param over what an earlier look found of processes that have left, by file: a look each second at all that a run has
 *   written would take a core's tenth in the end
 */
export function readProgress(folder: string, over = new Map<string, Progress>()): Progress[] {
  const look = (name: string) => {
    const known = over.get(name)
    if (known) return known
    const progress = progressOf(Number.parseInt(name, 10), readFileSync(join(folder, name), 'utf8'))
    if (progress.exited) over.set(name, progress)
    return progress
  }
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map(look)
    .filter(({ startedAt }) => startedAt > 0) // a file that was made this instant, and is still empty
    .sort((a, b) => a.startedAt - b.startedAt)
}

/** Reads a process's events, one JSON text a line; a last line that is still being written is left out. */
export function progressOf(pid: number, lines: string): Progress {
  const events: ProgressEvent[] = lines
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
  const startedAt = events[0]?.at ?? 0
  const running: string[] = []
  const ended: { title: string; passed: boolean }[] = []
  const progress: Progress = { pid, startedAt, progressAt: startedAt, running, ended }
  for (const event of events) {
    if (event.event === 'stalled') progress.stalled = { awaited: event.awaited, resources: event.resources }
    else if (event.event === 'exit') progress.exited = { at: event.at, cpuSeconds: event.cpuSeconds }
    else {
      delete progress.stalled
      progress.progressAt = event.at
      if (event.event === 'file') progress.file = event.file
      else if (event.event === 'start') running.push(event.title)
      else {
        const began = running.indexOf(event.title)
        if (began !== -1) running.splice(began, 1)
        ended.push({ title: event.title, passed: event.passed })
      }
    }
  }
  return progress
}
