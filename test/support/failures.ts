import { stripVTControlCharacters } from 'node:util'
import type { Progress } from './progress-record.ts'

/** What failed in a run: a test of a file, or what AVA says of a hook or a process (then without a file). */
export type Failure = { file: string; title: string }

/**
 * What failed in one run: tests that ended badly or never, and every other failure that AVA reports by a line.
 * @param report AVA's own report
 */
export function failuresOf(progress: readonly Progress[], report: string): Failure[] {
  const tests = progress.flatMap(({ file = '', running, ended }) => [
    ...ended.filter(({ passed }) => !passed).map(({ title }) => ({ file, title })),
    ...running.map((title) => ({ file, title })),
  ])
  const lines = [...stripVTControlCharacters(report).matchAll(/^\s+[✖✘×] (.+)$/gm)].map(([, line = '']) => line)
  const others = lines.filter((line) => !tests.some(({ title }) => line.includes(title)))
  return [...tests, ...others.map((title) => ({ file: '', title }))]
}

/** The failures of several runs, one line each, the most frequent first: how many of the runs, file, title. */
export function flakyLines(runs: readonly (readonly Failure[])[]): string[] {
  const counts = new Map<string, number>()
  for (const failures of runs) {
    const lines = new Set(failures.map(failureLine))
    for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([line, count]) => `${count} of ${runs.length}  ${line}`)
}

/** A failure in one line: file and title. */
export function failureLine({ file, title }: Failure): string {
  return [file, title].filter(Boolean).join(' › ')
}
