import { stripVTControlCharacters } from 'node:util'

export type TestCount = { passed: number; failed: number }

/**
 * Returns the counts of AVA's own report. It names the total only when all passed; else each passed test is a line with
 * a tick. Everything that makes a run fail counts as a failure, at least once.
 */
export function countTests(report: string, exitCode: number): TestCount {
  const text = stripVTControlCharacters(report)
  const total = /^\s+(\d+) tests? passed$/m.exec(text)?.[1]
  const passed = total === undefined ? [...text.matchAll(/^\s+[✔√] /gm)].length : Number(total)
  const troubles = text.matchAll(
    /^\s+(\d+) (?:tests? failed|hooks? failed|unhandled rejections?|uncaught exceptions?|tests? remained pending)/gm,
  )
  const failed = [...troubles].reduce((sum, [, number]) => sum + Number(number), 0)
  return { passed, failed: exitCode === 0 ? failed : Math.max(failed, 1) }
}
