import test from 'ava'
import { findings } from '../../support/axe.ts'
import { openBrowser } from '../../support/browser.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addMailedCheck, furnish } from './furnished.ts'
import { openInstallation, setUp, signIn } from './installation.ts'

let app: HttpProduct
let paths: Record<string, string>

test.before(async () => {
  app = await openInstallation()
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await setUp(app, page)
  paths = await furnish(app)
})
test.after.always(async () => {
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

test.serial('every page is accessible, in both themes, and scrolled sideways at no width and no zoom', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1440, height: 800 }, reducedMotion: 'reduce' })
  const page = await browser.context.newPage()
  const problems: string[] = []
  // A page is loaded once: only its style depends on the width and the theme.
  const check = async (name: string, path: string) => {
    await page.goto(app.url + path)
    for (const { width, colorScheme, rules } of LOOKS) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      const where = `${name}, ${colorScheme} at ${width} px`
      for (const finding of await findings(page, rules)) problems.push(`${where}: ${finding}`)
    }
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 450 })
      const excess = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      if (excess > 0) problems.push(`${name} is ${excess} px wider than a window of ${width} px`)
    }
    const cut = await page.evaluate(
      () => [...document.querySelectorAll('.code-block pre')].filter((one) => one.scrollWidth > one.clientWidth).length,
    )
    if (cut > 0) problems.push(`${name} hides the ends of ${cut} lines to copy on a phone`)
  }
  for (const name of ['/sign-in', '/reset-password', '/no-such-page', '/docs']) await check(name, name)
  await check('status page', paths.status ?? '')
  await signIn(app, page, 'ada@example.com')
  for (const [name, path] of Object.entries(paths)) await check(name, path)
  const mail = `${await addMailedCheck(app)}/pings/1`
  await check('mail', `${mail}?view=html`)
  t.deepEqual(problems, [])
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
  t.true(await page.getByText('Waiting for its first ping').isVisible())
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
