import test from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import { post, resolveRequest } from '../../support/test-wallet.ts'
import { signIn } from './installation.ts'
import { ONE_LOOK_A_LAYOUT, problemsOf } from './page-problems.ts'
import { addRiskAccount, type RiskAccount } from './risk-installation.ts'

let it: RiskAccount

test.before(async () => {
  it = await addRiskAccount()
})

/** Fills in the fields that a form has no default for, and sends it. @returns the next address */
async function send(page: Page, path: string, fields: Record<string, string>, button: string): Promise<string> {
  await page.goto(it.base + path)
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value)
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.getByText('SHA-256 of the record').first().waitFor()
  return page.url()
}

/** Records a receivable and requests its buyer's acceptance. Returns the receivable's page and the buyer's link. */
async function requestBuyerAcceptance(
  page: Page,
  ref: string,
  number: string,
): Promise<{ receivable: string; link: string }> {
  await send(page, '/acceptance/record', { Receivable: ref, 'Date and time (UTC)': '2026-06-20T18:30' }, 'Record')
  const receivable = await send(
    page,
    '/acceptance/ask',
    { Receivable: ref, 'E-mail address of the buyer': 'buyer@example.com', Number: number },
    'Send the question',
  )
  return { receivable, link: (await page.locator('.notice code').innerText()).trim() }
}

/** Requests a presentation on the form. Returns the address of the page with its QR code; the browser shows the request. */
async function requestPresentation(page: Page): Promise<string> {
  await page.goto(`${it.base}/identity/ask`)
  await page.getByRole('button', { name: 'Create the request', exact: true }).click()
  return (await page.getByRole('link', { name: 'Open the page with the QR code' }).getAttribute('href')) ?? ''
}

/** Fills in the forms of all families. Returns the addresses of the pages that they lead to. */
async function make(page: Page): Promise<string[]> {
  const verification = await send(page, '/businesses/verify', {}, 'Verify')
  const business = (await page.locator('a[href*="/businesses/"].mono').first().getAttribute('href')) ?? ''
  await page.goto(`${it.base}/financing/check`)
  await page.getByLabel('Anchor the result').check()
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await page.getByText('SHA-256 of the record').first().waitFor()
  const check = page.url()
  const registration = await send(page, '/financing/register', { Number: 'INV/1' }, 'Register')
  const { receivable, link } = await requestBuyerAcceptance(page, 'RCV-1', 'INV/1')
  const shown = await requestPresentation(page)
  const presentation = page.url()
  await page.goto(`${it.base}/identity/subjects/add`)
  await page.getByLabel('Your reference', { exact: true }).fill('RCV-1')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('heading', { name: 'Subject' }).waitFor()
  const subject = page.url()
  return [
    presentation,
    shown,
    subject,
    `${subject}/verify`,
    `${subject}/erase`,
    verification,
    it.app.url + business,
    check,
    registration,
    receivable,
    link,
  ]
}

const lists = [
  '/identity',
  '/identity/ask',
  '/identity/subjects/add',
  '/identity/verifications',
  '/identity/presentations',
  '/identity/passports',
  '/identity/consents',
  '/identity/issuers',
  '/identity/issuers/trust',
  '/identity/consents/record',
  '/businesses',
  '/businesses/verify',
  '/financing',
  '/financing/check',
  '/financing/check-blind',
  '/financing/register',
  '/financing/accept',
  '/financing/dispute',
  '/acceptance',
  '/acceptance/record',
  '/acceptance/adjust',
  '/acceptance/ask',
  '/acceptance/measure',
]

test.serial('forms of the families work on a phone, and their pages are accessible in both layouts', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 360, height: 800 }, reducedMotion: 'reduce' })
  const page = await browser.context.newPage()
  await signIn(it, page)
  const made = await make(page)
  for (const address of [...lists.map((path) => it.base + path), ...made])
    t.deepEqual(await problemsOf(page, address, ONE_LOOK_A_LAYOUT), [])
})

test.serial('without scripts a buyer receives a request and answers it', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(it, page)
  const { link } = await requestBuyerAcceptance(page, 'RCV-2', 'INV/2')
  await page.goto(link)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  const code = /code is ([0-9]{6})/.exec(await page.getByText('Your code is').innerText())?.[1] ?? ''
  await page.getByLabel('Code from the mail').fill(code)
  await page.getByRole('button', { name: 'I accept this document' }).click()
  await page.getByRole('heading', { name: 'Already answered' }).waitFor()
  await page.goto(`${it.base}/acceptance/receivables/RCV-2`)
  t.true(await page.locator('.facts').getByText('Issuer confirmed').isVisible())
})

test.serial('a request page shows without a reload that a wallet read and refused it', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(it, page)
  await page.goto(await requestPresentation(page))
  const box = await page.locator('svg.qr-code').boundingBox()
  t.true((box?.width ?? 0) >= 200, 'large enough to be scanned')
  const link = (await page.getByRole('link', { name: 'Open a wallet' }).getAttribute('href')) ?? ''
  const { responseUri, state } = await resolveRequest(link)
  await page.getByText('A wallet has read the request.').waitFor()
  await post(responseUri, new URLSearchParams({ state, error: 'access_denied' }))
  await page.getByRole('heading', { name: 'Refused' }).waitFor()
  t.is(await page.locator('svg.qr-code').count(), 0)
})

test.serial('without scripts a request page shows its code on a phone, and its progress after a reload', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false, viewport: { width: 360, height: 800 } })
  const page = await browser.context.newPage()
  await signIn(it, page)
  await page.goto(await requestPresentation(page))
  const box = await page.locator('svg.qr-code').boundingBox()
  t.true((box?.width ?? 0) >= 200 && (box?.x ?? 0) + (box?.width ?? 0) <= 360, 'whole, and large enough to be scanned')
  const link = (await page.getByRole('link', { name: 'Open a wallet' }).getAttribute('href')) ?? ''
  const { responseUri, state } = await resolveRequest(link)
  await page.getByRole('link', { name: 'Reload' }).click()
  await page.getByText('A wallet has read the request.').waitFor()
  await post(responseUri, new URLSearchParams({ state, error: 'access_denied' }))
  await page.getByRole('link', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'Refused' }).waitFor()
  await page.waitForLoadState()
  t.is(await page.getByRole('link', { name: 'Reload' }).count(), 0, 'nothing more will change')
})
