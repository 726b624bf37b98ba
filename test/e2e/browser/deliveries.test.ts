import test, { type ExecutionContext } from 'ava'
import type { Locator, Page } from 'playwright-core'
import { enableEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { recordEvent } from '#shared/webhooks/events/store.ts'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink, type RecordedRequest } from '../../support/http-sink.ts'
import { signIn } from './installation.ts'
import { addEndpoint, addPack, addRiskAccount, type RiskAccount } from './risk-installation.ts'

let it: RiskAccount

test.before(async () => {
  it = await addRiskAccount()
})

/** A real event of production, as a finished pack makes one. @returns its id and the body that endpoints are sent */
async function emit(dealId: string): Promise<{ id: string; body: string }> {
  return await it.app.deps.outbox.run((tx, enqueue) =>
    recordEvent(tx, enqueue, {
      env: 'PRODUCTION',
      organisationId: it.organisation.id,
      type: 'risk_signals.pack_ready',
      dealId,
      fields: ['packId'],
      occurredAt: new Date().toISOString(),
    }),
  )
}

/** Follows links from the front page to the deliveries of an endpoint, as a user who knows no address. */
async function openDeliveries(page: Page, sink: HttpSink): Promise<void> {
  await page.goto(it.app.url)
  await page.getByText('Risk signals', { exact: true }).click()
  await page.getByRole('link', { name: 'Evidence packs' }).click()
  // The organisation has an endpoint in production only, so the console opens there.
  await page
    .getByRole('navigation', { name: 'Environment' })
    .locator('[aria-current]', { hasText: 'Production' })
    .waitFor()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('link', { name: sink.url, exact: true }).click()
  await page.getByRole('heading', { level: 1, name: sink.url, exact: true }).waitFor()
}

const rowOf = (page: Page, dealId: string) => page.getByRole('row').filter({ hasText: dealId })

/** Reloads the page until it shows the text. */
async function untilShown(page: Page, what: string, ...wanted: Locator[]): Promise<void> {
  await eventually(what, async () => {
    await page.reload()
    const shown = await Promise.all(wanted.map((one) => one.isVisible()))
    return shown.every(Boolean)
  })
}

async function untilDealIs(page: Page, dealId: string, state: string): Promise<void> {
  await untilShown(page, `${dealId} to be ${state}`, rowOf(page, dealId).getByText(state, { exact: true }))
}

/** Loads a delivery until it has the state and the attempt. @returns every attempt, in order */
async function untilAttempt(page: Page, attempt: string, state: string): Promise<string[]> {
  const attempts = page.getByRole('region', { name: 'Attempts' }).getByRole('listitem')
  const heading = page.getByRole('heading', { level: 1 })
  await untilShown(
    page,
    attempt,
    attempts.getByText(attempt, { exact: true }),
    heading.getByText(state, { exact: true }),
  )
  const lines = await attempts.allInnerTexts()
  return lines.filter((line) => /^\d+\. /.test(line)).map((line) => line.replaceAll(/\s+/g, ' '))
}

const isAbout = (event: { id: string }) => (request: RecordedRequest) => request.headers['webhook-id'] === event.id

/** Presses a button and waits for the next page: an earlier reload would cancel the request. */
async function press(page: Page, name: string): Promise<void> {
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name }).click()])
}

function repair(sink: HttpSink): void {
  sink.respond = () => ({ status: 200, body: 'ok' })
}

/** Asserts that both requests contain the event: the same id and the same bytes. */
function sameEventTwice(t: ExecutionContext, sink: HttpSink, event: { id: string; body: string }): void {
  const sent = sink.requests.filter(isAbout(event))
  t.deepEqual(
    sent.map(({ body }) => body.toString()),
    [event.body, event.body],
  )
}

test.serial('a failed delivery is resent by hand after its endpoint is repaired', async (t) => {
  await using sink = await openHttpSink()
  // The next scheduled attempt is a day away: any earlier attempt was requested on the page.
  sink.respond = () => ({ status: 500, headers: { 'retry-after': '86400' } })
  await addEndpoint(it, 'PRODUCTION', sink.url)
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(it, page)
  const event = await emit('deal-resent')

  await openDeliveries(page, sink)
  await rowOf(page, 'deal-resent').getByRole('link').click()
  const [failed, ...others] = await untilAttempt(page, '1. failed', 'retrying')
  t.regex(failed ?? '', /HTTP 500/)
  t.deepEqual(others, [])
  t.true(await page.getByText('next attempt', { exact: true }).isVisible())

  repair(sink)
  await press(page, 'Resend now')
  const attempts = await untilAttempt(page, '2. delivered', 'delivered')
  t.is(attempts.length, 2)
  t.regex(attempts[0] ?? '', /^1\. failed .*HTTP 500/)
  t.regex(attempts[1] ?? '', /^2\. delivered .*HTTP 200/)
  sameEventTwice(t, sink, event)
  t.is(await page.getByRole('button', { name: 'Resend now' }).count(), 0, 'what was delivered is not sent twice')
  t.false(await page.getByText('next attempt', { exact: true }).isVisible())
})

test.serial(
  'a failing endpoint is never shown as healthy, the page refreshes, and an empty replay is reported',
  async (t) => {
    await using sink = await openHttpSink()
    sink.respond = () => ({ status: 500, headers: { 'retry-after': '86400' } })
    await addEndpoint(it, 'PRODUCTION', sink.url)
    await using browser = await openBrowser()
    const page = await browser.context.newPage()
    await signIn(it, page)
    await openDeliveries(page, sink)
    await page.getByText('active', { exact: true }).waitFor()
    await emit('deal-failing')
    await page.getByText('failing, 1 in a row').waitFor()
    t.true(await page.getByText(/next attempt in (1 d|23 h)/).isVisible(), 'and when it is tried again')
    t.is(await page.getByText('active', { exact: true }).count(), 0)
    await page.getByRole('checkbox', { name: 'suppressed' }).check()
    for (const state of ['failed', 'exhausted']) await page.getByRole('checkbox', { name: state }).uncheck()
    await press(page, 'Replay')
    await page.getByText('No delivery matches').waitFor()
  },
)

test.serial("an endpoint's page replays the events missed while it was disabled", async (t) => {
  await using sink = await openHttpSink()
  sink.respond = () => ({ status: 410 })
  const endpoint = await addEndpoint(it, 'PRODUCTION', sink.url)
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(it, page)
  const refused = await emit('deal-refused')

  await openDeliveries(page, sink)
  await untilShown(page, 'the endpoint to be switched off', page.getByText('it answered 410 Gone'))
  t.is(await page.getByText('switched off by the service', { exact: true }).count(), 1)
  t.true(await rowOf(page, 'deal-refused').getByText('failed', { exact: true }).isVisible())
  t.is(await page.getByRole('button', { name: 'Replay' }).count(), 0, 'nothing is replayed to what is switched off')
  const missed = await emit('deal-missed')
  await untilDealIs(page, 'deal-missed', 'suppressed')
  t.deepEqual(sink.requests.filter(isAbout(missed)), [])

  repair(sink)
  await enableEndpoint(it.app.deps.db, endpoint)
  await page.reload()
  t.true(await page.getByText('active', { exact: true }).isVisible())
  await press(page, 'Replay')
  const received = await sink.waitFor(isAbout(missed))
  t.is(received.body.toString(), missed.body)
  await untilDealIs(page, 'deal-missed', 'delivered')
  await untilDealIs(page, 'deal-refused', 'delivered')
  sameEventTwice(t, sink, refused)

  await rowOf(page, 'deal-refused').getByRole('link').click()
  const attempts = await untilAttempt(page, '2. delivered', 'delivered')
  t.is(attempts.length, 2)
  t.regex(attempts[0] ?? '', /^1\. failed .*HTTP 410/)
  t.regex(attempts[1] ?? '', /^2\. delivered .*HTTP 200/)
})

test.serial('on a phone every usage figure is visible', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 360, height: 740 } })
  const page = await browser.context.newPage()
  await signIn(it, page)
  await addPack(it)
  await page.goto(`${it.base}/usage`)
  const table = page.getByRole('region', { name: 'Units per family' })
  t.true(await table.evaluate((one) => one.scrollWidth <= one.clientWidth))
  const labels = await table
    .locator('td.figure')
    .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, '::before').content))
  t.deepEqual(labels, ['"Today (UTC): "', '"This month: "', '"30 days: "', '"Total: "'])
})

test.serial('without scripts an endpoint is created for selected events', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(it, page)
  await page.goto(`${it.base}/webhooks/new`)
  await page.getByLabel('URL').fill('https://hooks.example/selected')
  const ready = page.getByLabel('Risk signals pack ready')
  t.false(await ready.isVisible(), 'the default is all events')
  await page.getByLabel('Only selected events').check()
  await page.getByRole('button', { name: 'Create endpoint' }).last().click()
  await page.getByText('Select at least one event, or choose all events.').waitFor()
  await ready.check()
  await page.getByRole('group', { name: 'Businesses' }).getByLabel('All of these').check()
  await page.getByRole('button', { name: 'Create endpoint' }).last().click()
  await page.getByText('all of Businesses, Risk signals pack ready').waitFor()
  t.true(await page.getByRole('button', { name: 'Send test event' }).isVisible())
  t.true(await page.getByRole('region', { name: 'verification in Node' }).isVisible(), 'a new secret opens the help')
})

test.serial('on a phone a short page has the header of a long one', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 360, height: 1200 } })
  const page = await browser.context.newPage()
  await signIn(it, page)
  await page.goto(`${it.base}/webhooks`)
  t.true(((await page.locator('.side').boundingBox())?.height ?? 999) <= 56)
})
