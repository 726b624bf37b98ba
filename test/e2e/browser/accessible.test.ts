import test from 'ava'
import type { Page } from 'playwright-core'
import { findings } from '../../support/axe.ts'
import { openBrowser } from '../../support/browser.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addMailedCheck, FURNISHED, type FurnishedPaths, furnish } from './furnished.ts'
import { openInstallation, setUp, signIn } from './installation.ts'

let app: HttpProduct
let paths: FurnishedPaths
/** Each kept from page to page: that of somebody who has signed in, and that of somebody who has not. */
let member: Page
let visitor: Page
const browsers = new AsyncDisposableStack()

async function openPage(): Promise<Page> {
  const options = { viewport: { width: 1440, height: 800 }, reducedMotion: 'reduce' } as const
  return await browsers.use(await openBrowser(options)).context.newPage()
}

test.before(async () => {
  app = await openInstallation()
  member = await openPage()
  visitor = await openPage()
  await setUp(app, member)
  paths = await furnish(app)
})
test.after.always(async () => {
  await browsers.disposeAsync()
  await app?.[Symbol.asyncDispose]()
})

/** What a page is looked at by: whole where the layout differs, by its contrast alone where only the colours do. */
const LOOKS = [
  { width: 1440, colorScheme: 'light', rules: [] },
  { width: 1440, colorScheme: 'dark', rules: ['color-contrast'] },
  { width: 360, colorScheme: 'dark', rules: [] },
  { width: 360, colorScheme: 'light', rules: ['color-contrast'] },
] as const
/** 720 px is what 1440 px are at 200 % zoom. */
const WIDTHS = [1920, 1440, 1024, 768, 720, 360]

/** What is wrong with a page, in both themes, and at which widths it is scrolled sideways. */
async function problemsOf(page: Page, path: string): Promise<string[]> {
  const problems: string[] = []
  // A page is loaded once: only its style depends on the width and the theme.
  await page.goto(app.url + path)
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 450 })
    const excess = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    if (excess > 0) problems.push(`${excess} px wider than a window of ${width} px`)
  }
  const cut = await page.evaluate(
    () => [...document.querySelectorAll('.code-block pre')].filter((one) => one.scrollWidth > one.clientWidth).length,
  )
  if (cut > 0) problems.push(`hides the ends of ${cut} lines to copy on a phone`)
  for (const { width, colorScheme, rules } of LOOKS) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    for (const finding of await findings(page, rules)) problems.push(`${colorScheme} at ${width} px: ${finding}`)
  }
  return problems
}

const isAccessible = 'is accessible in both themes, and scrolled sideways at no width and no zoom'

for (const path of ['/sign-in', '/reset-password', '/no-such-page', '/docs'])
  test.serial(`${path} ${isAccessible}`, async (t) => t.deepEqual(await problemsOf(visitor, path), []))

test.serial(`a status page ${isAccessible} for a visitor`, async (t) =>
  t.deepEqual(await problemsOf(visitor, paths.status), []),
)

for (const name of FURNISHED)
  test.serial(`the page "${name}" ${isAccessible}`, async (t) => t.deepEqual(await problemsOf(member, paths[name]), []))

test.serial(`a mail ${isAccessible}`, async (t) => {
  const mail = `${await addMailedCheck(app)}/pings/1`
  t.deepEqual(await problemsOf(member, `${mail}?view=html`), [])
})

test.serial(
  'on a phone an entry of the audit log takes a few lines, and no address is set letter by letter',
  async (t) => {
    await using browser = await openBrowser({ viewport: { width: 360, height: 740 } })
    const page = await browser.context.newPage()
    await signIn(app, page, 'ada@example.com')
    await page.goto(app.url + paths.audit)
    const heights = await page
      .locator('.stacked tbody tr')
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
    t.true(heights.length > 0)
    t.true(
      heights.every((height) => height <= 150),
      heights.join(),
    )
    const cell = page.getByRole('cell', { name: 'ada@example.com', exact: true }).first()
    t.true(((await cell.boundingBox())?.height ?? 999) <= 24, 'an address stands in one line')
  },
)

test.serial('without scripts everything can still be read, and a check be created', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(app, page, 'ada@example.com')
  await page.goto(app.url + paths.checks)
  t.true(await page.getByRole('link', { name: 'Nightly backup' }).isVisible())
  await page.getByRole('link', { name: 'Add check' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Scriptless')
  await page.getByRole('button', { name: 'Create check' }).click()
  await page.getByText('Waiting for its first ping').waitFor()
  t.is(await page.locator('button.copy:visible').count(), 0, 'what needs scripts is not offered')
})

test.serial('a check is created with the keyboard alone', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(app, page, 'ada@example.com')
  await page.goto(app.url + paths.checks)
  await page.keyboard.press('Tab')
  t.is(await page.evaluate(() => document.activeElement?.textContent?.trim()), 'Skip to the content')
  await page.keyboard.press('Enter')
  // Above it may stand what a slow machine could not hear, with its link.
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
  for (let presses = 0; presses < 2 && (await focused()) !== 'Add check'; presses++) await page.keyboard.press('Tab')
  t.is(await focused(), 'Add check')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Add check' }).waitFor()
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(() => document.activeElement?.id === 'name')) break
  }
  await page.keyboard.type('By keyboard')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'By keyboard' }).waitFor()
  t.pass()
})
