import type { Page } from 'playwright-core'
import { findings } from './axe.ts'

interface Look {
  width: number
  colorScheme: 'light' | 'dark'
  /** the axe rules to run; empty: all */
  rules: readonly string[]
}

/** Runs all rules once per layout. The second theme of a layout differs only in its colours. */
export const EVERY_LOOK: readonly Look[] = [
  { width: 1440, colorScheme: 'light', rules: [] },
  { width: 1440, colorScheme: 'dark', rules: ['color-contrast'] },
  { width: 360, colorScheme: 'dark', rules: [] },
  { width: 360, colorScheme: 'light', rules: ['color-contrast'] },
]
/** One theme per layout, for pages that are made of the same components. */
export const ONE_LOOK_A_LAYOUT = EVERY_LOOK.filter(({ rules }) => rules.length === 0)

/** 720 px equals 1440 px at 200 % zoom. */
const WIDTHS = [1920, 1440, 1024, 768, 720, 360]

/** Loads a page and returns its problems of layout and accessibility. */
export async function problemsOf(page: Page, address: string, looks: readonly Look[]): Promise<string[]> {
  await page.goto(address)
  return await problemsHere(page, looks)
}

/** Returns the problems of the current page, for the response to a form. */
export async function problemsHere(page: Page, looks: readonly Look[]): Promise<string[]> {
  return [...(await layoutProblems(page)), ...(await axeProblems(page, looks))]
}

/**
 * Returns the widths at which the current page scrolls sideways, and the number of cut lines in blocks to copy at the
 * smallest width. It does not reload the page, because only the style depends on the width.
 */
async function layoutProblems(page: Page): Promise<string[]> {
  const problems: string[] = []
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 450 })
    const excess = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    if (excess > 0) problems.push(`${page.url()}: ${excess} px wider than a window of ${width} px`)
  }
  const cut = await page.evaluate(
    () => [...document.querySelectorAll('.code-block pre')].filter((one) => one.scrollWidth > one.clientWidth).length,
  )
  if (cut > 0) problems.push(`${page.url()}: hides the ends of ${cut} lines to copy on a phone`)
  return problems
}

/** Returns the findings of axe on the current page in each look. It does not reload the page. */
export async function axeProblems(page: Page, looks: readonly Look[]): Promise<string[]> {
  const problems: string[] = []
  for (const { width, colorScheme, rules } of looks) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    for (const finding of await findings(page, rules))
      problems.push(`${page.url()}: ${colorScheme} at ${width} px: ${finding}`)
  }
  return problems
}
