import test from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import { addMailedCheck, FURNISHED, type FurnishedPaths, furnish, openApi } from './furnished.ts'
import { type Account, addAccount, invite, sharedInstallation, signIn } from './installation.ts'
import { axeProblems, EVERY_LOOK, layoutProblems, problemsOf } from './page-problems.ts'

let account: Account
let paths: FurnishedPaths
/** Pages with and without a session. All tests of this file load their pages in these two. */
let member: Page
let visitor: Page
const browsers = new AsyncDisposableStack()

async function openPage(): Promise<Page> {
  const options = { viewport: { width: 1440, height: 800 }, reducedMotion: 'reduce' } as const
  return await browsers.use(await openBrowser(options)).context.newPage()
}

test.before(async () => {
  account = await addAccount(await sharedInstallation())
  paths = await furnish(account, await openApi(account))
  member = await openPage()
  visitor = await openPage()
  await signIn(account, member)
})
test.after.always(() => browsers.disposeAsync())

const problems = (page: Page, path: string) => problemsOf(page, account.app.url + path, EVERY_LOOK)

const isAccessible = 'is accessible in both themes, and scrolled sideways at no width and no zoom'

for (const path of ['/sign-in', '/reset-password', '/no-such-page'])
  test.serial(`${path} ${isAccessible}`, async (t) => t.deepEqual(await problems(visitor, path), []))

test.serial(`/docs ${isAccessible}`, async (t) => {
  await visitor.goto(`${account.app.url}/docs`)
  t.deepEqual(await layoutProblems(visitor), [])
  // All operations have the same markup, and axe needs half a minute for all of them. One of each tag and method stays.
  const left = await visitor.evaluate(() => {
    const methods = new Set<string>()
    for (const operation of document.querySelectorAll('main section > article')) {
      const method = operation.querySelector('.method')?.className ?? ''
      if (methods.has(method) && operation.matches('article ~ article')) operation.remove()
      methods.add(method)
    }
    return { methods: methods.size, operations: document.querySelectorAll('main article').length }
  })
  t.true(left.methods >= 4 && left.operations >= 20, JSON.stringify(left))
  t.deepEqual(await axeProblems(visitor, EVERY_LOOK), [])
})

test.serial(`a status page ${isAccessible} for a visitor`, async (t) =>
  t.deepEqual(await problems(visitor, paths.status), []),
)

for (const name of FURNISHED)
  test.serial(`the page "${name}" ${isAccessible}`, async (t) => t.deepEqual(await problems(member, paths[name]), []))

test.serial(`a mail ${isAccessible}`, async (t) => {
  const mail = `${await addMailedCheck(account)}/pings/1`
  t.deepEqual(await problems(member, `${mail}?view=html`), [])
})

test.serial('audit log entries stay compact on a phone, without breaking addresses into letters', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 360, height: 740 } })
  const page = await browser.context.newPage()
  await invite(account, 'new@example.com')
  await signIn(account, page)
  await page.goto(account.app.url + paths.audit)
  const heights = await page
    .locator('.stacked tbody tr')
    .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
  t.true(heights.length > 0)
  t.true(
    heights.every((height) => height <= 150),
    heights.join(),
  )
  const cell = page.locator('td[data-label=Who]').filter({ hasText: account.email }).first()
  t.true(((await cell.boundingBox())?.height ?? 999) <= 24, 'an address stands in one line')
})

test.serial('without scripts everything can still be read, and a check be created', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(account.app.url + paths.checks)
  t.true(await page.getByRole('link', { name: 'Nightly backup', exact: true }).isVisible())
  await page.getByRole('link', { name: 'Add check' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Scriptless')
  await page.getByRole('button', { name: 'Create check' }).click()
  await page.getByText('Waiting for its first ping').waitFor()
  t.is(await page.locator('button.copy:visible').count(), 0, 'what needs scripts is not offered')
})

test.serial('a check is created with the keyboard alone', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(account.app.url + paths.checks)
  await page.keyboard.press('Tab')
  t.is(await page.evaluate(() => document.activeElement?.textContent?.trim()), 'Skip to the content')
  await page.keyboard.press('Enter')
  // A notice of a coverage gap, with its link, may be above it on a slow machine.
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
