import type { TestCount } from './count-tests.ts'
import type { Failure } from './failures.ts'
import type { Progress } from './progress-record.ts'

/** More files than these do not fail by chance. */
const MOST_FILES = 5

/**
 * The files of a run that deserve to run once more, alone: stories of kills and deadlines depend on the machine, and one
 * of thousands must not hide what the others say. None when a failure belongs to no file, or when too many failed.
 * @param files all test files of the suite
 */
export function filesToTryAgain(failures: readonly Failure[], files: readonly string[]): string[] {
  const blamed = failures.map(({ file, title }) => file || files.find((each) => title.includes(each)))
  if (blamed.some((file) => file === undefined)) return []
  const distinct = [...new Set(blamed.filter((file) => file !== undefined))].sort()
  return distinct.length > MOST_FILES ? [] : distinct
}

/** What a run says in the end: its count, and what failed at first and passed alone. */
type Verdict = { count: TestCount; unsteady: Failure[] }

/**
 * Joins a run and the second try of its failed files: those files count as their second try found them.
 * @param first the count and failures of the whole run, and what its processes recorded
 * @param second the same of the second try
 */
export function afterSecondTry(
  first: { count: TestCount; failures: readonly Failure[]; records: readonly Progress[] },
  second: { count: TestCount; failures: readonly Failure[]; records: readonly Progress[] },
): Verdict {
  const again = new Set(second.records.map(({ file }) => file))
  const passedOfThese = first.records
    .filter(({ file }) => again.has(file))
    .reduce((sum, { ended }) => sum + ended.filter(({ passed }) => passed).length, 0)
  const isFailing = ({ file, title }: Failure) =>
    second.failures.some((each) => each.file === file && each.title === title)
  return {
    count: { passed: first.count.passed - passedOfThese + second.count.passed, failed: second.count.failed },
    unsteady: first.failures.filter((failure) => !isFailing(failure)),
  }
}
