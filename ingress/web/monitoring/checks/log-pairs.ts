import type { LogEntry } from '#shared/monitoring/pages/check-log-store.ts'
import type { Micros } from '#shared/time.ts'

/** A line of the log; a finish stands for its start as well, where both are on the page. */
export type LogLine = LogEntry & {
  /** of a finish: the ping that started the run, and how long that was before */
  started: { n: number; took: Micros } | null
}

/**
 * Puts each finish and the start of its run into one line.
 * @param entries newest first; a start belongs to the next finish with its run id
 */
export function pairEntries(entries: readonly LogEntry[]): LogLine[] {
  const lines: LogLine[] = []
  const open = new Map<string | null, LogLine>()
  for (const entry of entries) {
    if (entry.kind === 'ping' && entry.type === 'start') {
      const finish = open.get(entry.rid)
      open.delete(entry.rid)
      if (finish && finish.at >= entry.at) {
        finish.started = { n: Number(entry.id), took: finish.at - entry.at }
        continue
      }
    }
    const line: LogLine = { ...entry, started: null }
    if (entry.kind === 'ping' && (entry.type === 'success' || entry.type === 'fail')) open.set(entry.rid, line)
    lines.push(line)
  }
  return lines
}

/** Longer than this no line is read. */
const MAX_LENGTH = 120

/** The first line of a body that says something, cut to what fits; empty for bytes that are no text. */
export function firstLine(head: Buffer | null): string {
  if (!head) return ''
  const text = head.toString('utf8')
  if (head.some((byte) => byte < 32 && byte !== 9 && byte !== 10 && byte !== 13)) return ''
  const line = text.split('\n').find((one) => one.trim() !== '') ?? ''
  const clean = line.trim().replace(/\uFFFD+$/, '')
  return clean.length > MAX_LENGTH ? `${clean.slice(0, MAX_LENGTH)}…` : clean
}
