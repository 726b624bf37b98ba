import test from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import { addMailedCheck, fillProject, openApi, PROJECT_PAGES, type ProjectPaths } from './filled-project.ts'
import { type Account, addAccount, invite, sharedInstallation, signIn } from './installation.ts'
import { EVERY_LOOK, problemsHere, problemsOf } from './page-problems.ts'

let account: Account
let paths: ProjectPaths
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
  paths = await fillProject(account, await openApi(account))
  member = await openPage()
  visitor = await openPage()
  await signIn(account, member)
})
test.after.always(() => browsers.disposeAsync())

const problems = (page: Page, path: string) => problemsOf(page, account.app.url + path, EVERY_LOOK)

const isAccessible = 'is accessible in both themes, and scrolled sideways at no width and no zoom'

for (const path of ['/sign-in', '/reset-password', '/no-such-page'])
  test.serial(`${path} ${isAccessible}`, async (t) => t.deepEqual(await problems(visitor, path), []))

for (const path of ['/docs', '/docs/createCheck', '/docs/getPack'])
  test.serial(`${path} ${isAccessible}`, async (t) => t.deepEqual(await problems(visitor, path), []))

test.serial('the API reference filters its list while typing', async (t) => {
  await visitor.goto(`${account.app.url}/docs`)
  await visitor.getByLabel('Find an operation').fill('rotate-secret')
  await visitor.getByRole('link', { name: 'Rotate' }).waitFor()
  await visitor.getByRole('link', { name: 'List checks', exact: true }).waitFor({ state: 'hidden' })
  t.is(await visitor.locator('.docs-list:visible').count(), 1)
})

test.serial('without scripts the API reference switches languages and opens schemas', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await page.goto(`${account.app.url}/docs/createCheck`)
  await page.getByRole('region', { name: 'example in curl' }).waitFor()
  await page.getByRole('radio', { name: 'Python' }).check()
  await page.getByRole('region', { name: 'example in Python' }).waitFor()
  await page.getByRole('region', { name: 'example in curl' }).waitFor({ state: 'hidden' })
  await page.getByText('Members of rules').first().click()
  await page.getByText('Members of RunRule').first().click()
  await page.getByText('start_grace').first().waitFor()
  await page.getByRole('searchbox').fill('rotate-secret')
  await page.getByRole('searchbox').press('Enter')
  await page.getByText('1 operation contains').waitFor()
  t.pass()
})

test.serial(`a status page ${isAccessible} for a visitor`, async (t) =>
  t.deepEqual(await problems(visitor, paths.status), []),
)

for (const name of PROJECT_PAGES)
  test.serial(`the page "${name}" ${isAccessible}`, async (t) => t.deepEqual(await problems(member, paths[name]), []))

test.serial(`the lanes of a simulation ${isAccessible}`, async (t) => {
  const policy = paths.policy.split('/').at(-1)
  await member.goto(`${account.app.url}${paths.simulator}&policy=${policy}`)
  await member.getByRole('radio', { name: 'Typed pings' }).check()
  await member.getByLabel('Pings', { exact: true }).fill('00:10 fail\n00:50 success')
  await member.getByRole('button', { name: 'Simulate', exact: true }).click()
  await member.getByRole('region', { name: 'Notifications as lanes' }).first().waitFor()
  t.deepEqual(await problemsHere(member, EVERY_LOOK), [])
})

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

test.serial('without scripts pages can be read and a check created', async (t) => {
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
