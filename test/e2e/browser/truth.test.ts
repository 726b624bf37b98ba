import test from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { furnish } from './furnished.ts'
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

async function openList(page: Page): Promise<void> {
  await signIn(app, page, 'ada@example.com')
  await page.goto(app.url + paths.checks)
  await page.locator('html[data-watching]').waitFor()
}

async function addCheck(name: string): Promise<string> {
  const answer = await fetch(`${app.url}/api/v3/checks/`, {
    method: 'POST',
    headers: { 'X-Api-Key': 'hcw_onlyForTests000000000000000a' },
    body: JSON.stringify({ name, timeout: 3600 }),
  })
  const { ping_url: url }: { ping_url: string } = await answer.json()
  return url
}

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

test.serial('a row changes while a box in it is ticked and has the focus, and keeps both', async (t) => {
  const url = await addCheck('Focused job')
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await openList(page)
  const box = page.getByRole('checkbox', { name: 'Select Focused job' })
  await box.check()
  await box.focus()
  await fetch(`${url}/fail`)
  await rowOf(page, 'Focused job').getByRole('img', { name: 'Down', exact: true }).waitFor()
  t.true(await box.isChecked())
  t.true(await box.evaluate((element) => element === document.activeElement))
})

test.serial('a page that has lost the service says since when, and goes on by itself', async (t) => {
  await using lost = await openInstallation()
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const broken: string[] = []
  page.on('pageerror', (error) => broken.push(error.message))
  await setUp(lost, page)
  await page.getByRole('link', { name: 'Add the first check' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Job')
  await page.getByRole('button', { name: 'Create check' }).click()
  await page.locator('html[data-watching]').waitFor()
  await page.route('**/*', (route) => route.abort())
  await lost.deps.db('checks').update({ name: 'Renamed', status: 'paused' })
  lost.deps.announce({
    kind: 'check',
    uuid: page.url().slice(-36),
    projectId: Number((await lost.deps.db('projects').first('id'))?.id),
  })
  await page.getByRole('alert').filter({ hasText: 'Not connected since' }).waitFor()
  t.regex((await page.getByRole('alert').textContent()) ?? '', /What you see is from \d\d:\d\d:\d\d/)
  await page.unroute('**/*')
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await eventually('the bar to go', async () => (await page.locator('#connection:visible').count()) === 0)
  t.deepEqual(broken, [])
})

test.serial('every page says when pings are being refused', async (t) => {
  let isAway = true
  app.deps.pingReadiness.add(() => (isAway ? ['broker: is away'] : []))
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await openList(page)
  for (const name of ['checks', 'check', 'integration', 'settings']) {
    await page.goto(app.url + paths[name])
    t.true(await page.getByText('Pings are being refused').isVisible(), name)
  }
  isAway = false
  await page.reload()
  t.is(await page.getByText('Pings are being refused').count(), 0)
})

test.serial('without https copying still works, and says so', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await signIn(app, page, 'ada@example.com')
  await page.goto(app.url + paths.check)
  await page.evaluate(() =>
    document.addEventListener('copy', () => (document.title = getSelection()?.toString() ?? '')),
  )
  await page.getByRole('button', { name: 'Copy ping address', exact: true }).click()
  await page.getByText('Copied', { exact: true }).waitFor()
  t.pass()
})

test.serial('switching an integration in a row leaves the page where it is', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1280, height: 300 } })
  const page = await browser.context.newPage()
  await openList(page)
  await page.evaluate(() => scrollTo(0, 120))
  const toggle = page.getByRole('button', { name: /On-call .* for Smoke test/ })
  t.is(await toggle.getAttribute('aria-pressed'), 'false')
  await toggle.click()
  await page.locator('button[aria-pressed=true][aria-label*="for Smoke test"]').waitFor()
  t.true((await page.evaluate(() => scrollY)) > 0)
})

test.serial('without scripts nothing is deleted before a page has asked', async (t) => {
  const url = await addCheck('Kept until asked')
  await using browser = await openBrowser({ javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(app, page, 'ada@example.com')
  await page.goto(`${app.url}/checks/${url.slice(-36)}`)
  await page.getByRole('button', { name: 'Delete check' }).click()
  t.true(await page.getByText('Delete Kept until asked with its whole log').isVisible())
  t.truthy(
    await app.deps
      .db('checks')
      .where({ uuid: url.slice(-36) })
      .first(),
  )
  await page.getByRole('button', { name: 'Yes, go on' }).click()
  await page.getByText('The check is deleted').waitFor()
  t.is(
    await app.deps
      .db('checks')
      .where({ uuid: url.slice(-36) })
      .first(),
    undefined,
  )
})
