import test from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import { type Account, addDemoAccount, sharedInstallation, signIn } from './installation.ts'

let account: Account
let base: string

test.before(async () => {
  const app = await sharedInstallation()
  account = await addDemoAccount(app)
  const { db } = app.deps
  // Older than the gaps that the sweeper repeatedly derives from the heartbeats.
  const times = {
    from_at: db.raw(`now() - interval '3 days'`),
    until_at: db.raw(`now() - interval '3 days' + interval '30 minutes'`),
  }
  await db('coverage_gaps').insert({
    listener: 'sweeper',
    shards: 1,
    ...times,
    kind: 'detection',
    cause: 'process lost',
  })
  base = `${app.url}/projects/${account.project.uuid}`
})

async function excessOf(page: Page): Promise<number> {
  return await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}

test.serial('on a phone pages with a history are read without scrolling sideways', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 360, height: 740 } })
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(`${base}/gaps`)
  t.is(await excessOf(page), 0)
  const cell = page.getByText('Missing pings were not detected').last()
  t.true(((await cell.boundingBox())?.height ?? 999) < 60, 'a cause stands in two lines')

  await page.goto(`${base}/checks?sort=tag`)
  const [group, table] = await Promise.all([
    page.locator('.checks .group th').first().boundingBox(),
    page.locator('.checks').boundingBox(),
  ])
  t.true((group?.width ?? 0) > (table?.width ?? 0) - 4, 'the head of a group is as wide as its rows')
  t.false(await page.getByText('select', { exact: false }).last().isVisible(), 'no keys are named where there are none')

  for (const [list, name] of [
    ['', 'Subjects'],
    ['/passports', 'Passports'],
    ['/issuers', 'Issuers'],
  ] as const) {
    await page.goto(`${account.app.url}/organisations/${account.organisation.uuid}/risk/sandbox/identity${list}`)
    const current = await page.getByRole('link', { name, exact: true }).boundingBox()
    t.true(current !== null && current.x >= 0 && current.x + current.width <= 360, `${name} is marked in sight`)
  }
  t.false(await page.getByRole('link', { name: 'Usage' }).isVisible(), 'the areas of the console are in the menu')
  await page.getByLabel('Show the navigation').check()
  t.true(await page.getByRole('link', { name: 'Usage' }).isVisible())
  t.is(await page.locator('nav[aria-label=Main] [aria-current]').innerText(), 'Identity')
})

test.serial('an outage shows its length and failed message; earlier reasons are collapsed', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1440, height: 900 } })
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(`${base}/incidents?tab=resolved`)
  t.regex((await page.locator('tbody tr').last().textContent()) ?? '', /Resolved.*\d+ (?:min|h)/)

  // Late checks of the demo go down while the test runs, and their messages fail for other reasons.
  const lost = await account.app.deps
    .db('notifications as m')
    .join('checks as c', 'c.id', 'm.check_id')
    .where({ 'm.state': 'failed', 'm.error': 'Received status code 500', 'c.project_id': account.project.id })
    .orderBy('m.created_at')
    .first('m.incident_id', 'c.uuid', 'c.n_pings')
  await page.goto(`${account.app.url}/incidents/${lost?.incident_id}`)
  t.true(
    await page
      .getByText(/^Failed to notify Incident bot .*: Received status code 500$/)
      .first()
      .isVisible(),
  )
  await page.goto(`${account.app.url}/checks/${lost?.uuid}`)
  const why = page.locator('#alert-policy').locator('..')
  t.is(await why.locator(':scope > ul > li').count(), 3)
  t.true(await why.getByText('Earlier decisions').isVisible())
  t.true(await why.getByText('On-call: delivered').first().isVisible())

  const n = Number(lost?.n_pings) - 2
  await page.goto(`${account.app.url}/checks/${lost?.uuid}/pings/${n}`)
  await page.getByRole('heading', { name: `Ping #${n}` }).waitFor()
  t.is(await page.getByText('none', { exact: true }).count(), 0, 'what was not sent has no line')
})
