import { hash } from 'node:crypto'
import test from 'ava'
import type { Page } from 'playwright-core'
import { SMALL_TAPE } from '../../ingress/api-risk/imports-support.ts'
import { beforeScript, openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { signIn } from './installation.ts'
import { ONE_LOOK_A_LAYOUT, problemsOf } from './page-problems.ts'
import { addRiskAccount, type RiskAccount } from './risk-installation.ts'

let it: RiskAccount
/** Pages that the first test created. */
const made: string[] = []

test.before(async () => {
  it = await addRiskAccount()
})

async function choose(page: Page, content: string): Promise<void> {
  const file = { name: 'tape.csv', mimeType: 'text/csv', buffer: Buffer.from(content) }
  await page.getByLabel('File', { exact: true }).setInputFiles(file)
  await page.getByRole('button', { name: 'Upload', exact: true }).click()
}

test.serial('a tape upload shows its errors on the same page, or leads to the import', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1440, height: 800 } })
  const page = await browser.context.newPage()
  await signIn(it, page)
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.resourceType())
  })
  await page.goto(`${it.base}/imports`)
  await page.getByRole('link', { name: 'Upload a file' }).click()
  await page.waitForURL('**/imports/new')
  await choose(page, '')
  await page.getByText('the file is empty').waitFor()
  t.true(page.url().endsWith('/imports/new'))
  await choose(page, 'a'.repeat(20 * 1024 * 1024 + 1))
  await page.getByText('The file is larger than 20 MiB.').waitFor()
  await choose(page, SMALL_TAPE)
  await page.waitForURL(/\/imports\/[0-9a-f-]{36}$/)
  await page.getByRole('cell', { name: 'loan_amnt is not an amount' }).waitFor()
  t.deepEqual(sent, ['xhr', 'xhr'])
  made.push(page.url())
})

test.serial('a dropped document is hashed in the browser and not sent', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(it, page)
  const requests: string[] = []
  await page.goto(`${it.base}/trade/documents/new`)
  page.on('request', (request) => requests.push(`${request.url()} ${request.postData() ?? ''}`))
  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(['secret paper'], 'bill.pdf', { type: 'application/pdf' }))
    return transfer
  })
  await page.locator('.drop-zone').dispatchEvent('drop', { dataTransfer: dropped })
  await page.getByText('Hash of bill.pdf').waitFor()
  await beforeScript(page, /hash-file-/, async () => {
    await page.reload({ waitUntil: 'commit' })
    const file = { name: 'bill.pdf', mimeType: 'application/pdf', buffer: Buffer.from('secret paper') }
    await page.locator('.drop-zone input').setInputFiles(file)
  })
  await page.getByText('Hash of bill.pdf').waitFor()
  const value = (label: string) => page.getByLabel(label, { exact: true }).inputValue()
  t.is(await value('SHA-256 of the file'), hash('sha256', 'secret paper', 'hex'))
  t.deepEqual([await value('Bytes'), await value('Media type')], ['12', 'application/pdf'])
  await page.getByRole('button', { name: 'Record', exact: true }).click()
  await page.waitForURL((url) => !url.pathname.endsWith('/new'))
  t.false(requests.join().includes('secret paper'))
  t.false(requests.join().includes('bill.pdf'))
})

test.serial('a pack is built in the browser from a document that was recorded there', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(it, page)
  await page.goto(`${it.base}/trade/documents/new`)
  await page.getByLabel('SHA-256 of the file', { exact: true }).fill('ab'.repeat(32))
  await page.getByRole('button', { name: 'Record', exact: true }).click()
  await page.goto(`${it.base}/trade/verify/iec`)
  await page.getByRole('button', { name: 'Query the registry', exact: true }).click()
  await page.getByText('SHA-256 of the record').first().waitFor()
  made.push(page.url())
  await page.goto(`${it.base}/trade/packs/new`)
  for (const box of await page.locator('main input[type="checkbox"]').all()) await box.check()
  await page.getByLabel('Title', { exact: true }).fill('Hamburg')
  await page.getByRole('button', { name: 'Issue the pack', exact: true }).click()
  await page.getByRole('heading', { name: 'Hamburg' }).waitFor()
  t.is(await page.getByRole('link', { name: 'BagIt package (ZIP)', exact: true }).count(), 1)
  made.push(page.url())
})

test.serial('a visitor verifies the bundle of a trade pack, and its damage is shown', async (t) => {
  await using browser = await openBrowser()
  await using guest = await openBrowser()
  const member = await browser.context.newPage()
  const page = await guest.context.newPage()
  await signIn(it, member)
  const bundle: string = await (await member.request.get(`${made.at(-1)}/bundle.json`)).text()
  const verify = async (name: string, content: string) => {
    await page.goto(`${it.app.url}/sign-in`)
    await beforeScript(page, /verify-[0-9a-f]+\.js/, async () => {
      await page.getByRole('link', { name: 'Verify it' }).click()
      await page
        .getByLabel('Pack (JSON), its PDF or a package')
        .setInputFiles({ name, mimeType: '', buffer: Buffer.from(content) })
    })
    const report = page.locator('[data-report]')
    await report.getByRole('heading').waitFor()
    return await report.innerText()
  }
  const good = await eventually('the record in the log', async () => {
    const text = await verify('bundle.json', bundle)
    return text.includes('Verified in the sandbox') && text
  })
  t.true(good.includes(`commercial invoice, SHA-256 ${'ab'.repeat(32)}`), good)
  t.regex(good, /The statement is signed with a key of this service/)

  const { envelope, ...rest } = JSON.parse(bundle)
  const [{ keyid, sig }] = envelope.signatures
  const damaged = (change: object) => JSON.stringify({ ...rest, envelope: { ...envelope, ...change } })
  const payload = Buffer.from(envelope.payload, 'base64').toString().replaceAll('ab'.repeat(32), 'ac'.repeat(32))
  const otherPaper = await verify('bundle.json', damaged({ payload: Buffer.from(payload).toString('base64') }))
  t.regex(otherPaper, /^Not verified[\s\S]*belongs to another statement/)
  const unsigned = [{ keyid, sig: `${sig.slice(0, 10)}${sig[10] === 'A' ? 'B' : 'A'}${sig.slice(11)}` }]
  t.regex(
    await verify('b.json', damaged({ signatures: unsigned })),
    /^Not verified[\s\S]*signature of the statement is wrong/,
  )
  t.regex(
    await verify('b.json', damaged({ signatures: [{ keyid: 'other', sig }] })),
    /^Not verified[\s\S]*no key of this service/,
  )
})

const lists = [
  '/imports',
  '/imports/new',
  '/pools',
  '/pools/new',
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
