import { constants } from 'node:os'

/** The signals that end a run before it has a verdict. */
const ENDING = ['SIGINT', 'SIGTERM'] as const

/** The exit code of a run that a signal ended, by the custom of shells: 128 and the signal's number. */
export function exitCodeOf(signal: (typeof ENDING)[number]): number {
  return 128 + constants.signals[signal]
}

/**
 * Whether a run was ended from outside, so that what it had under way says nothing about the tests.
 * @param exit as a child process reports it: a run that takes back what it started exits by itself
 */
export function wasEnded({ status, signal }: { status: number | null; signal: NodeJS.Signals | null }): boolean {
  return signal !== null || ENDING.some((ending) => status === exitCodeOf(ending))
}
