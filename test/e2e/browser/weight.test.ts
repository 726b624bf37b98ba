import { randomBytes } from 'node:crypto'
import test from 'ava'
import { openBrowser } from '../../support/browser.ts'
import { type Account, addDemoAccount, sharedInstallation, signIn } from './installation.ts'

/** An account for each test, because checks that go down meanwhile are shown by more elements. */
const openAccount = async () => await addDemoAccount(await sharedInstallation())

/** Loads a page, and counts the bytes of its HTML and its elements before scripts change it. */
async function weightOf(account: Account, path: string, rows: string) {
  await using browser = await openBrowser({ viewport: { width: 1440, height: 900 }, javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(account, page)
  const answer = await page.goto(account.app.url + path)
  const bytes = Buffer.byteLength((await answer?.text()) ?? '')
  return { bytes, elements: await page.locator('*').count(), rows: await page.locator(rows).count() }
}

test.serial('a list of 50 checks has fewer than 1,500 elements and 120 kB', async (t) => {
  const account = await openAccount()
  const weight = await weightOf(account, `/projects/${account.project.uuid}/checks`, '.checks tbody tr')
  t.is(weight.rows, 50)
  t.true(weight.elements < 1_500, String(weight.elements))
  t.true(weight.bytes < 120_000, String(weight.bytes))
})

test.serial('a status page of 57 checks has fewer than 4,000 elements and 200 kB', async (t) => {
  const account = await openAccount()
  const token = randomBytes(11).toString('hex')
  await account.app.deps
    .db('status_pages')
    .insert({ project_id: account.project.id, token, title: 'Acme status', is_grouped: true })
  const weight = await weightOf(account, `/status/${token}`, '.public-check')
  t.is(weight.rows, 57)
  t.true(weight.elements < 4_000, String(weight.elements))
  t.true(weight.bytes < 200_000, String(weight.bytes))
})
