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

/** The progress of every test process that wrote to `folder`, oldest first. */
export function readProgress(folder: string): Progress[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => progressOf(Number.parseInt(name, 10), readFileSync(join(folder, name), 'utf8')))
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
  const progress = { pid, startedAt, progressAt: startedAt, running: [], ended: [] }
  return events.reduce<Progress>(withEvent, progress)
}

function withEvent(progress: Progress, event: ProgressEvent): Progress {
  const { stalled: _over, ...moved } = { ...progress, progressAt: event.at }
  switch (event.event) {
    case 'file':
      return { ...moved, file: event.file }
    case 'start':
      return { ...moved, running: [...progress.running, event.title] }
    case 'end': {
      const { title, passed } = event
      return {
        ...moved,
        running: progress.running.filter((each) => each !== title),
        ended: [...progress.ended, { title, passed }],
      }
    }
    case 'stalled':
      return { ...progress, stalled: { awaited: event.awaited, resources: event.resources } }
    case 'exit':
      return { ...progress, exited: { at: event.at, cpuSeconds: event.cpuSeconds } }
  }
}
