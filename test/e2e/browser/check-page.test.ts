import test from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { addMailedCheck, fillProject, openApi, type ProjectPaths } from './filled-project.ts'
import { type Account, addAccount, sharedInstallation, signIn } from './installation.ts'

let account: Account
let paths: ProjectPaths

test.before(async () => {
  account = await addAccount(await sharedInstallation())
  paths = await fillProject(account, await openApi(account))
})

async function open(page: Page, name: keyof ProjectPaths): Promise<string[]> {
  const broken: string[] = []
  page.on('pageerror', (error) => broken.push(error.message))
  page.on('console', (message) => message.type() === 'error' && broken.push(message.text()))
  await signIn(account, page)
  await page.goto(account.app.url + paths[name])
  return broken
}

test.serial('the log shows a run as one line with its length and the first line of its body', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const broken = await open(page, 'check')
  const line = page.locator('.entry.ping').first()
  t.regex((await line.textContent()) ?? '', /#8 OK\s*took .*started by #7.*all tables dumped/)
  t.is(await page.locator('.entry.ping').count(), 4, 'eight pings are four runs')
  t.true((await page.locator('.chart .axis-label').count()) >= 4, 'the chart has an axis')
  await page.locator('.chart a').first().click()
  await page.getByRole('heading', { name: 'Ping #2' }).waitFor()
  t.deepEqual(broken, [])
})

test.serial('a ping opens in a drawer with links to its neighbours, and as a page without scripts', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const broken = await open(page, 'check')
  await page.getByRole('link', { name: '#8 OK' }).click()
  const drawer = page.getByRole('dialog', { name: 'Ping' })
  await drawer.getByRole('heading', { name: 'Ping #8' }).waitFor()
  t.true(await drawer.getByText('all tables dumped').isVisible())
  await drawer.getByRole('link', { name: 'Ping #7' }).click()
  await drawer.getByRole('heading', { name: 'Ping #7' }).waitFor()
  t.is(new URL(page.url()).pathname, paths.check)
  await page.keyboard.press('Escape')
  t.false(await drawer.isVisible())
  t.deepEqual(broken, [])

  await using plain = await openBrowser({ javaScriptEnabled: false })
  const still = await plain.context.newPage()
  await open(still, 'check')
  await still.getByRole('link', { name: '#8 OK' }).click()
  await still.getByRole('heading', { name: 'Ping #8' }).waitFor()
  t.regex(new URL(still.url()).pathname, /pings/)
})

test.serial('the views of a mail are opened in the drawer by keyboard, and its frame shows all of it', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1440, height: 900 } })
  const page = await browser.context.newPage()
  const broken = await open(page, 'checks')
  await page.goto(account.app.url + (await addMailedCheck(account)))
  const { pathname } = new URL(page.url())
  await page.getByRole('link', { name: '#1 OK' }).click()
  const drawer = page.getByRole('dialog', { name: 'Ping' })
  await drawer.getByText('All 214 tables dumped.', { exact: true }).waitFor()
  const left = (await drawer.getByRole('heading', { name: 'Mail' }).boundingBox())?.y ?? 0
  t.true(left < ((await drawer.getByRole('heading', { name: 'Details' }).boundingBox())?.y ?? 0), 'the body first')
  await drawer.getByRole('link', { name: 'Text', exact: true }).focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const frame = drawer.locator('iframe')
  await frame.contentFrame().getByRole('heading', { name: 'All 214 tables dumped' }).waitFor()
  const focused = () => page.evaluate(() => document.activeElement?.textContent)
  t.is(await focused(), 'HTML', 'the focus does not move')
  const height = await frame
    .contentFrame()
    .locator(':root')
    .evaluate((root) => root.scrollHeight)
  const given = (await frame.boundingBox())?.height ?? 0
  // The server estimates the height from the number of lines. The font of this machine decides how many there are.
  t.true(given >= height * 0.95 && given < height * 1.5, `${given} px for ${height} px`)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await drawer.getByText('Subject: Backup of the billing database').waitFor()
  t.is(await focused(), 'Source')
  t.is(new URL(page.url()).pathname, pathname, 'over the log')
  t.deepEqual(broken, [])
})

test.serial('times are shown in UTC, in the zone of the check or of the browser, and the choice is kept', async (t) => {
  await using browser = await openBrowser({ timezoneId: 'America/New_York' })
  const page = await browser.context.newPage()
  await open(page, 'check')
  const time = page.locator('.entry time[data-exact]').first()
  const at = new Date((await time.getAttribute('datetime')) ?? '')
  const clock = (timeZone: string) => at.toLocaleTimeString('en-GB', { timeZone })
  t.true((await time.textContent())?.endsWith(clock('UTC')))
  await page.getByLabel('Times in').selectOption('Asia/Kolkata')
  t.true((await time.textContent())?.endsWith(clock('Asia/Kolkata')))
  await page.getByLabel('Times in').selectOption({ label: 'This browser’s time' })
  t.true((await time.textContent())?.endsWith(clock('America/New_York')))
  await page.reload()
  await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('#zone')?.value === '')
  t.true((await time.textContent())?.endsWith(clock('America/New_York')))
})

test.serial('a schedule form explains the typed schedule and its errors', async (t) => {
  await using browser = await openBrowser({ timezoneId: 'Europe/Riga' })
  const page = await browser.context.newPage()
  const broken = await open(page, 'new check')
  const preview = page.getByRole('region', { name: 'What this means' })
  t.regex(
    (await preview.textContent()) ?? '',
    /A ping at least every day\..*would be late in 1 d \(.*\) and down in 1 d 1 h \(/,
  )
  await page.getByLabel('By a schedule').check()
  t.is(await page.getByLabel('Time zone').inputValue(), 'Europe/Riga', 'the clock of who makes the check')
  await page.getByLabel('Cron or OnCalendar expression').fill('30 2 * * 1-5')
  await preview.getByText('At 02:30, Monday through Friday, by the clock of Europe/Riga.').waitFor()
  t.is(await preview.getByRole('row').count(), 6)
  await page.getByLabel('Cron or OnCalendar expression').fill('61 2 * *')
  await preview.getByText('neither a cron expression').waitFor()
  await page.getByLabel('Time zone').fill('Mars/Base')
  await preview.getByText('is not a time zone').waitFor()
  t.deepEqual(broken, [])
})

test.serial(
  'while a period is typed or a preset is chosen, the form shows when a check is late and when it is down',
  async (t) => {
    await using browser = await openBrowser()
    const page = await browser.context.newPage()
    const broken = await open(page, 'new check')
    const preview = page.getByRole('region', { name: 'What this means' })
    await page.getByLabel('Period', { exact: true }).fill('15')
    await page.getByLabel('Unit of the period').selectOption('minutes')
    await page.getByLabel('Grace time', { exact: true }).fill('10')
    await page.getByLabel('Unit of the grace time').selectOption('minutes')
    await preview.getByText(/late in 15 min \(.*\) and down in 25 min/).waitFor()
    await page.getByRole('button', { name: '7 d', exact: true }).click()
    t.is(await page.getByLabel('Period', { exact: true }).inputValue(), '7')
    t.is(await page.getByLabel('Unit of the period').inputValue(), 'days')
    await preview.getByText(/late in 7 d \(.*\) and down in 7 d/).waitFor()
    await page.getByLabel('Tags').fill('own pr')
    const offered = page.locator('#known-tags option')
    t.deepEqual(await offered.evaluateAll((options) => options.map((option) => option.getAttribute('value'))), [
      'own db',
      'own prod',
      'own staging',
    ])
    t.deepEqual(broken, [])
  },
)

test.serial('a late preview response does not replace a newer one', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await open(page, 'new check')
  const preview = page.getByRole('region', { name: 'What this means' })
  const delayed = Promise.withResolvers<void>()
  await page.route(/schedule-preview.*[?&]timeout=15&/, async (route) => {
    await delayed.promise
    await route.continue()
  })
  const ofFifteen = (request: { url(): string }) => request.url().includes('timeout=15&')
  const [requested, answered] = [page.waitForRequest(ofFifteen), page.waitForResponse(ofFifteen)]
  await page.getByLabel('Period', { exact: true }).fill('15')
  await requested
  await page.getByLabel('Period', { exact: true }).fill('20')
  await preview.getByText(/late in 20 /).waitFor()
  delayed.resolve()
  await (await answered).finished()
  // A later response proves that the page has read the first one.
  await page.evaluate(async () => (await fetch('/livez')).text())
  t.regex((await preview.textContent()) ?? '', /late in 20 /)
})

test.serial('“Ping now” pings from the page and from the menu of a row, without leaving the page', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const broken = await open(page, 'new check')
  await page.getByLabel('Name', { exact: true }).fill('By hand')
  await page.getByLabel('Description').fill('Run book: https://wiki.example.com/by-hand.')
  await page.getByRole('button', { name: 'Create check' }).click()
  await page.getByText('Waiting for its first ping').waitFor()
  const link = page.getByRole('link', { name: 'https://wiki.example.com/by-hand', exact: true })
  t.is(await link.getAttribute('href'), 'https://wiki.example.com/by-hand')
  const { pathname } = new URL(page.url())
  await page.getByRole('button', { name: 'Ping now' }).click()
  await page.getByRole('link', { name: '#1 OK' }).waitFor()
  t.is(new URL(page.url()).pathname, pathname)
  await page.goto(account.app.url + paths.checks)
  await page.getByRole('link', { name: 'More of By hand' }).click()
  await page.getByRole('button', { name: 'Ping now (By hand)' }).click()
  await page.getByText('Pinged').waitFor()
  t.is(new URL(page.url()).pathname, paths.checks)
  await eventually('both pings', () => account.app.deps.db('checks').where({ name: 'By hand', n_pings: 2 }).first('id'))
  t.deepEqual(broken, [])
})

test.serial('a check that is down shows since when, why, and that no notification was sent', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await open(page, 'check')
  await page.goto(`${account.app.url}${paths.ping.replace(/\/pings.*/, '')}`)
  const sentence = (await page.locator('.sentence').textContent()) ?? ''
  t.regex(
    sentence,
    /^Down for \d+ (s|min), since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: a failure was reported\..*No notification was sent\.$/,
  )
})

test.serial('a check that becomes late shows it at once, without waiting for the next refresh', async (t) => {
  const { db } = account.app.deps
  const [{ uuid }] = await db('checks').insert({ project_id: account.project.id, name: 'Due soon' }).returning('uuid')
  await db('checks').where({ uuid }).update({ timeout_seconds: 3600, grace_seconds: 3600 })
  await fetch(`${account.app.url}/ping/${uuid}`)
  await eventually('the ping to count', () => db('checks').where({ uuid, status: 'up' }).first('id'))
  const pingedAgo = (seconds: number) =>
    db('checks')
      .where({ uuid })
      .update({
        last_ping: db.raw('now() - make_interval(secs => ?)', [seconds]),
        alert_after: db.raw("now() - make_interval(secs => ?) + interval '2 hours'", [seconds]),
      })
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await pingedAgo(3573)
  const opened = Date.now()
  await page.clock.install({ time: opened })
  // Its events never arrive, so only the time in the page remains.
  await page.route('**/events*', () => undefined)
  await page.goto(`${account.app.url}/checks/${uuid}`)
  const sentence = page.locator('.sentence[data-next-change]')
  t.regex(await sentence.innerText(), /^Up\./)
  await pingedAgo(3640)
  // Less than the thirty seconds between two refreshes of an open page, and no further.
  await page.clock.pauseAt(opened + 29_000)
  await page.locator('.sentence').filter({ hasText: /^Late/ }).waitFor()
})
