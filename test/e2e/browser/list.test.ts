import test from 'ava'
import { openBrowser } from '../../support/browser.ts'
import { addDemoAccount, sharedInstallation, signIn } from './installation.ts'

test.serial('the list shows fifteen of sixty checks, failed ones first, and supports the keyboard', async (t) => {
  const account = await addDemoAccount(await sharedInstallation())
  await using browser = await openBrowser({ viewport: { width: 1440, height: 900 } })
  const page = await browser.context.newPage()
  const broken: string[] = []
  page.on('pageerror', (error) => broken.push(error.message))
  page.on('console', (message) => message.type() === 'error' && broken.push(message.text()))
  await signIn(account, page)
  await page.goto(`${account.app.url}/projects/${account.project.uuid}/checks`)
  const heights = await page
    .locator('.checks tbody tr')
    .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
  t.true(
    heights.every((height) => height <= 43),
    heights.join(),
  )
  // On a slow machine, notices about the broker or a gap may take additional space.
  const notices = await page
    .locator('[data-region=refusal], [data-region=blindness]')
    .evaluateAll((regions) => regions.reduce((sum, region) => sum + region.getBoundingClientRect().height, 0))
  const seen = await page
    .locator('.checks tbody tr')
    .evaluateAll(
      (rows, above) => rows.filter((row) => row.getBoundingClientRect().bottom - above <= innerHeight).length,
      notices,
    )
  t.true(seen >= 15, `${seen} rows are seen`)
  const looks = await page.locator('.checks tbody tr').evaluateAll((rows) => rows.map(({ className }) => className))
  t.deepEqual(looks.slice(0, 7), [...Array(6).fill('is-down'), 'is-grace'])
  t.true(await page.getByText('Alerts cannot be sent').isVisible())

  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  t.is(await page.locator('#bulk-count').textContent(), '1 of 50 selected')
  await page.getByRole('checkbox', { name: 'Select all of this page' }).check()
  t.is(await page.locator('#bulk-count').textContent(), '50 of 50 selected')
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  t.regex((await page.getByRole('dialog').textContent()) ?? '', /Delete 50 checks \(.* and 45 more\)/)
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.keyboard.press('/')
  t.is(await page.evaluate(() => document.activeElement?.id), 'q')
  await page.keyboard.insertText('ledger')
  await page.waitForURL(/q=ledger/)
  t.is(await page.locator('.checks tbody tr').count(), 4)
  t.deepEqual(broken, [])
})
