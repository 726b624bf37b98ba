import test from 'ava'
import type { Page } from 'playwright-core'
import { SMALL_TAPE } from '../../ingress/api-risk/imports-support.ts'
import { openBrowser } from '../../support/browser.ts'
import { signIn } from './installation.ts'
import { ONE_LOOK_A_LAYOUT, problemsOf } from './page-problems.ts'
import { addRiskAccount, type RiskAccount } from './risk-installation.ts'

let it: RiskAccount
/** Pages that the first test made. */
const made: string[] = []

test.before(async () => {
  it = await addRiskAccount()
})

async function choose(page: Page, content: string): Promise<void> {
  const file = { name: 'tape.csv', mimeType: 'text/csv', buffer: Buffer.from(content) }
  await page.getByLabel('File', { exact: true }).setInputFiles(file)
  await page.getByRole('button', { name: 'Upload', exact: true }).click()
}

test.serial('a tape is uploaded without leaving the page, which shows its errors or continues', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1440, height: 800 } })
  const page = await browser.context.newPage()
  await signIn(it, page)
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.resourceType())
  })
  await page.goto(`${it.base}/imports`)
  await page.getByRole('link', { name: 'Upload a file' }).click()
  await choose(page, '')
  await page.getByText('the file is empty').waitFor()
  t.true(page.url().endsWith('/imports/new'))
  await choose(page, 'a'.repeat(20 * 1024 * 1024 + 1))
  await page.getByText('The file is longer than what is taken').waitFor()
  await choose(page, SMALL_TAPE)
  await page.waitForURL(/\/imports\/[0-9a-f-]{36}$/)
  await page.getByRole('cell', { name: 'loan_amnt is not an amount' }).waitFor()
  t.deepEqual(sent, ['xhr', 'xhr'])
  made.push(page.url())
})

test.serial('a pack is built in the browser from a document that was recorded there', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(it, page)
  await page.goto(`${it.base}/trade/documents/new`)
  await page.getByLabel('SHA-256 of the file', { exact: true }).fill('ab'.repeat(32))
  await page.getByRole('button', { name: 'Record', exact: true }).click()
  await page.goto(`${it.base}/trade/verify/iec`)
  await page.getByRole('button', { name: 'Ask the registry', exact: true }).click()
  await page.getByText('SHA-256 of the record').first().waitFor()
  made.push(page.url())
  await page.goto(`${it.base}/trade/packs/new`)
  for (const box of await page.locator('main input[type="checkbox"]').all()) await box.check()
  await page.getByLabel('Title', { exact: true }).fill('Hamburg')
  await page.getByRole('button', { name: 'Issue the pack', exact: true }).click()
  await page.getByRole('heading', { name: 'Hamburg' }).waitFor()
  t.is(await page.getByRole('link', { name: 'Bag', exact: true }).count(), 1)
  made.push(page.url())
})

const lists = [
  '/imports',
  '/imports/new',
  '/pools',
  '/trade',
  '/trade/documents',
  '/trade/documents/new',
  '/trade/verifications',
  '/trade/verify/ebrc',
  '/trade/verify/shipping-bill',
  '/trade/packs/new',
]

test.serial('pages of tapes and trade are accessible in both layouts, and never scroll sideways', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1440, height: 800 }, reducedMotion: 'reduce' })
  const page = await browser.context.newPage()
  await signIn(it, page)
  for (const address of [...lists.map((path) => it.base + path), ...made])
    t.deepEqual(await problemsOf(page, address, ONE_LOOK_A_LAYOUT), [])
})
