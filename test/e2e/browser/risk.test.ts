import { buffer } from 'node:stream/consumers'
import test from 'ava'
import type { Page } from 'playwright-core'
import { packDocument } from '#shared/risk/packs/pdf/document.ts'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { NO_POPPLER, readPdf } from '../../support/risk-poppler.ts'
import { signIn } from './installation.ts'
import { ONE_LOOK_A_LAYOUT, problemsOf } from './page-problems.ts'
import {
  addEndpoint,
  addPack,
  addRiskAccount,
  type RiskAccount,
  requestPack,
  settledPack,
} from './risk-installation.ts'

let it: RiskAccount

test.before(async () => {
  it = await addRiskAccount()
})

/** Verifies pasted text or a chosen file. @returns the result on the page */
async function verify(
  page: Page,
  given: { text: string } | { file: { name: string; mimeType: string; buffer: Buffer } },
) {
  await page.goto(`${it.app.url}/verify`)
  if ('text' in given) await page.getByLabel('or paste the JSON').fill(given.text)
  else await page.getByLabel('Pack (JSON), its PDF or a package').setInputFiles(given.file)
  if ('text' in given) await page.getByRole('button', { name: 'Verify' }).click()
  const report = page.locator('[data-report]')
  await report.getByRole('heading').waitFor()
  return { title: await report.getByRole('heading').innerText(), text: await report.innerText() }
}

test.serial('a new pack has a page, a PDF and a working verification link', async (t) => {
  await using browser = await openBrowser({ acceptDownloads: true })
  const page = await browser.context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('404')) problems.push(message.text())
  })
  await signIn(it, page)
  const id = await requestPack(it, page)
  t.true(await page.getByText('Sandbox — not evidence.').isVisible())

  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'PDF' }).click()])
  const pdf = await buffer(await download.createReadStream())
  t.is(pdf.subarray(0, 5).toString(), '%PDF-')
  const read = await readPdf(pdf)
  const json = await (await page.request.get(`${it.base}/packs/${id}/json`)).text()
  if (read) t.is(read.files.get(`pack-${id.slice(0, 8)}.json`)?.toString(), json)
  else t.log(NO_POPPLER)

  await page.getByRole('link', { name: /Check this pack/ }).click()
  await page.getByRole('heading', { name: 'In the log. Now check your file' }).waitFor()
  const frame = () =>
    page.locator('[data-report]').evaluate((report) => {
      const probe = document.createElement('i')
      probe.style.color = 'var(--up)'
      report.append(probe)
      const isGreen = getComputedStyle(report).borderTopColor === getComputedStyle(probe).color
      probe.remove()
      return isGreen ? 'green' : 'not green'
    })
  t.is(await frame(), 'not green', 'no pack was checked yet')
  const top = async (selector: string) => (await page.locator(selector).boundingBox())?.y ?? Number.NaN
  t.true((await top('[data-report]')) < (await top('.drop-zone')), 'what came of it stands first')
  const dropped = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([text], 'pack.json', { type: 'application/json' }))
    return transfer
  }, json)
  await page.locator('.drop-zone').dispatchEvent('drop', { dataTransfer: dropped })
  await page.getByRole('heading', { name: 'Verified in the sandbox' }).waitFor()
  t.notRegex(await page.locator('[data-report]').innerText(), /[0-9a-f]{64}/, 'hashes are shown by their ends')
  t.regex((await page.locator('[data-report] code').first().getAttribute('title')) ?? '', /^[0-9a-f]{64}$/)

  const good = await verify(page, { text: json })
  t.is(good.title, 'Verified in the sandbox', good.text)
  t.is(await frame(), 'not green')
  t.regex(good.text, /SANDBOX: not evidence/i)
  const { order } = packDocument({ body: json, evidence: null, env: 'SANDBOX' })
  for (const value of ['CLEAR', order.buyer, order.subcontractor, id]) t.true(good.text.includes(value), value)
  t.regex(good.text, /as its anchor states/)
  t.regex(good.text, /The checkpoint is signed by/)

  const commands = page.locator('[data-offline] code')
  t.regex(await commands.innerText(), new RegExp(` -- pack-${id.slice(0, 8)}.json --proof`))
  const changed = json.replace('"signalLevel":"CLEAR"', '"signalLevel":"CONFLICTED"')
  t.not(changed, json)
  const bad = await verify(page, { text: changed })
  t.is(bad.title, 'Not verified')
  t.regex(bad.text, /it was changed/)
  await eventually('the statement about the PDF in the log', async () => {
    const found = await verify(page, { file: { name: 'pack.pdf', mimeType: 'application/pdf', buffer: pdf } })
    return found.title === 'Verified in the sandbox' && found.text.includes(order.buyer)
  })
  const damaged = Buffer.from(pdf)
  damaged[damaged.length - 100] = (damaged[damaged.length - 100] ?? 0) ^ 1
  const refused = await verify(page, { file: { name: 'pack.pdf', mimeType: 'application/pdf', buffer: damaged } })
  t.is(refused.title, 'Not verified')
  t.is((await verify(page, { text: '[1' })).title, 'Not verified')
  const twins = json.replace('{"packId"', '{"signalLevel":"CONFLICTED","packId"')
  t.regex((await verify(page, { text: twins })).text, /names a member twice/)
  t.deepEqual(problems, [])
})

test.serial('a share link opens without an account, and not after it is revoked', async (t) => {
  await using browser = await openBrowser()
  await using guest = await openBrowser({ acceptDownloads: true })
  const page = await browser.context.newPage()
  await signIn(it, page)
  const id = await addPack(it)
  await page.goto(`${it.base}/packs/${id}`)
  await page.getByRole('button', { name: 'Create a share link' }).click()
  const link = await page.locator('.secret-once code').innerText()
  const other = await guest.context.newPage()
  await other.goto(link)
  t.true(await other.getByText(id).isVisible())
  const [download] = await Promise.all([
    other.waitForEvent('download'),
    other.getByRole('link', { name: 'JSON', exact: true }).click(),
  ])
  const json = await buffer(await download.createReadStream())
  await other.getByRole('link', { name: 'verification page' }).click()
  await other.getByRole('heading', { name: 'In the log. Now check your file' }).waitFor()
  const name = download.suggestedFilename()
  await other
    .getByLabel('Pack (JSON), its PDF or a package')
    .setInputFiles({ name, mimeType: 'application/json', buffer: json })
  await other.getByRole('heading', { name: 'Verified in the sandbox' }).waitFor()
  t.true(await other.getByText('not named in the pack: ask the sender').isVisible())
  await other.goto(link)
  await page.getByRole('button', { name: 'Revoke' }).click()
  t.is(await page.evaluate(() => document.activeElement?.textContent), 'Cancel')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('revoked', { exact: true }).waitFor()
  t.is((await other.reload())?.status(), 404)
  t.is((await other.request.get(`${link}/json`)).status(), 404)
})

test.serial('the browser verifies the proof of every log entry', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  for (let count = 0; count < 3; count++) await addPack(it)
  const entries = await eventually('every entry to be sequenced', async () => {
    const { rows } = await it.app.deps.db.raw<{ rows: { txId: string; seq: number | null }[] }>(
      `SELECT encode(leaf_hash, 'hex') AS "txId", seq FROM log_entries WHERE env = 'SANDBOX'`,
    )
    return rows.every(({ seq }) => seq !== null) && rows
  })
  t.true(entries.length > 8, String(entries.length))
  for (const { txId, seq } of entries) {
    const report = page.locator('[data-report]')
    await page.goto(`${it.app.url}/verify?txId=${txId}`)
    await report.getByRole('heading').waitFor()
    t.is(await report.getAttribute('data-result'), 'included', `entry ${seq}`)
  }
})

test.serial('risk pages are accessible in both layouts, and never scroll sideways', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1440, height: 800 }, reducedMotion: 'reduce' })
  const page = await browser.context.newPage()
  await signIn(it, page)
  const endpoint = await addEndpoint(it, 'SANDBOX', 'https://hooks.example/loans')
  const id = await addPack(it)
  await page.goto(`${it.base}/packs/${id}`)
  const verification = await page.locator('a.qr').getAttribute('href')
  await page.getByRole('button', { name: 'Create a share link' }).click()
  const link = await page.locator('.secret-once code').innerText()
  await page.goto(`${it.base}/webhooks/${endpoint}`)
  await eventually('the delivery', async () => {
    await page.reload()
    return (await page.locator('main tbody a').count()) > 0
  })
  await page.locator('main tbody a').first().click()
  await page.waitForURL(/\/deliveries\//)
  const delivery = page.url()
  // The edit form of an endpoint for selected events shows its check boxes.
  await it.app.deps
    .db('webhook_endpoints')
    .where({ id: endpoint })
    .update({ event_types: ['risk_signals.*', 'webhook.test'] })
  for (const address of [
    delivery,
    `${it.base}/webhooks/${endpoint}/edit`,
    `${it.base}/compare`,
    `${it.base}/packs`,
    `${it.base}/packs/new`,
    `${it.base}/packs/${id}`,
    `${it.base}/compare?pack=${id}&pack=${id}`,
    `${it.base}/clients`,
    `${it.base}/usage`,
    `${it.base}/agents`,
    `${it.base}/webhooks`,
    `${it.base}/webhooks/new`,
    `${it.base.replace(/sandbox$/, 'production')}/webhooks`,
    `${it.base}/webhooks/${endpoint}`,
    verification ?? '',
    link,
  ])
    t.deepEqual(await problemsOf(page, address, ONE_LOOK_A_LAYOUT), [])
})

test.serial('without scripts a pack can be made, read and verified by hand', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false, viewport: { width: 1440, height: 700 } })
  const page = await browser.context.newPage()
  await signIn(it, page)
  await requestPack(it, page)
  const contents = page.getByRole('navigation', { name: 'On this page' })
  for (const name of ['Counterparty establishment', 'Borrower capacity']) {
    await contents.getByRole('link', { name, exact: true }).focus()
    await page.keyboard.press('Enter')
    const heading = await page.getByRole('heading', { name, exact: true }).boundingBox()
    t.true(heading !== null && heading.y >= 0 && heading.y < 100, `${name} at ${heading?.y}`)
    t.true(((await contents.boundingBox())?.y ?? -1) >= 0, 'the list stays in sight')
  }
  await page.setViewportSize({ width: 1439, height: 700 })
  t.false(await contents.isVisible(), 'a narrower window is all for the pack')
  const address = (await page.locator('a.qr').getAttribute('href')) ?? ''
  await page.goto(address)
  t.true(await page.getByRole('heading', { name: 'Without this page' }).isVisible())
  t.true(await page.getByText('npm run -s verify').isVisible())
  t.is(await page.getByRole('button', { name: 'Verify' }).count(), 0, 'what needs scripts is not offered')
})

test.serial('a pack is requested with the keyboard alone', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(it, page)
  await page.goto(`${it.base}/packs/new`)
  await page.getByLabel('Purchase order value').focus()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('990000')
  await page.keyboard.press('Enter')
  await settledPack(page)
  t.true(await page.getByText('₹9,90,000.00 (9.90 lakh)').first().isVisible())
})

test.serial('a pack form shows all errors, and a chosen scenario is answered', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(it, page)
  await page.goto(`${it.base}/packs/new`)
  await page.getByText('More about the deal').click()
  await page.getByLabel('Buyer (GSTIN)').fill('27AAACB1234C1ZZ')
  await page.getByLabel('Purchase order value').fill('a lot')
  await page.getByLabel('Purchase order date').evaluate((field) => field.setAttribute('type', 'text'))
  await page.getByLabel('Purchase order date').fill('32/13/2026')
  await page.getByRole('button', { name: 'Request pack' }).click()
  const wrong = page.locator('.field-error')
  await wrong.first().waitFor()
  await page.waitForLoadState()
  t.deepEqual(await wrong.allTextContents(), [
    'Has a wrong check character.',
    'Must be an amount in rupees, such as 12,50,000.',
    'Must be a date YYYY-MM-DD.',
  ])
  t.true(await page.getByText('Must be a date YYYY-MM-DD').isVisible(), 'a closed part with a mistake is open')
  t.is(await page.evaluate(() => document.activeElement?.id), 'buyerGstin')

  await page.goto(`${it.base}/packs/new`)
  await page.getByLabel('Scenario').selectOption({ label: 'An active charge on receivables (08)' })
  await page.getByLabel('Party', { exact: true }).selectOption('subcontractorGstin')
  await page.getByRole('button', { name: 'Request pack' }).click()
  await settledPack(page)
  const id = new URL(page.url()).pathname.split('/').at(-1)
  const stored = await it.app.deps.db('packs').where({ id }).first('body')
  t.regex(stored?.body, /24AAFFS4308K1Z[0-9A-Z]/)
  t.regex(stored?.body, /CHARGE_FOUND/)

  // The page begins with the meaning of the order, and names the legs in words.
  t.is(await page.locator('.pack-level strong').textContent(), 'ATTENTION')
  t.deepEqual(await page.locator('.parties li').allInnerTexts(), [
    'Buyer\n27AAACB1234C1ZF\norders for ₹12,50,000.00 (12.50 lakh)',
    'Borrower\n29AAACR5678D1Z5',
    `Subcontractor\n${/24AAFFS4308K1Z./.exec(stored?.body)?.[0]}`,
  ])
  t.true(await page.getByText('corroborated legs: buyer to borrower').isVisible())
  t.false((await page.locator('main').innerText()).includes('A_TO_B'))
  await page.goto(`${it.base}/packs`)
  const line = page.getByRole('row').filter({ hasText: String(id).slice(0, 8) })
  t.regex(await line.innerText(), /27AAACB1234C1ZF\s+₹12,50,000\.00[\s\S]*ATTENTION/)
})

test.serial('a failed pack shows the failure in words', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(it, page)
  const id = await addPack(it)
  await it.app.deps.db('packs').where({ id }).update({ state: 'FAILED', body: null, failure_code: 'INTERNAL' })
  await page.goto(`${it.base}/packs/${id}`)
  t.true(await page.getByText('something went wrong on our side').isVisible())
  t.false((await page.content()).includes('INTERNAL'))
})
