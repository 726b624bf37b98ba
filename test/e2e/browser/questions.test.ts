import test from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
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
  await page.goto(app.url + paths.people)
  await page.getByLabel('E-mail address').fill('new@example.com')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByText('new@example.com').first().waitFor()
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
})

/** The forms of a page after which something is lost, by where they are sent. */
async function dangerous(page: Page): Promise<string[]> {
  return await page
    .locator('form:has(input[name=_question])')
    .evaluateAll((forms) => forms.map((form) => form.getAttribute('action') ?? ''))
}

/** How often each table is written to. */
async function written(): Promise<string> {
  const { rows } = await app.deps.db.raw(
    `SELECT (SELECT count(*) FROM checks) || ' ' || (SELECT count(*) FROM channels) || ' ' ||
            (SELECT count(*) FROM project_keys) || ' ' || (SELECT count(*) FROM policies) || ' ' ||
            (SELECT count(*) FROM status_notes) || ' ' || (SELECT count(*) FROM status_pages) AS held`,
  )
  return rows[0].held
}

test('without scripts every form that loses something asks first, and says where the reader is', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false, viewport: { width: 1440, height: 900 } })
  const page = await browser.context.newPage()
  await signIn(app, page, 'ada@example.com')
  const before = await written()
  const asked = new Set<string>()
  for (const path of Object.values(paths)) {
    await page.goto(app.url + path)
    for (const action of await dangerous(page)) {
      if (asked.has(action)) continue
      asked.add(action)
      const form = page.locator(`form[action="${action}"]:has(input[name=_question])`)
      const current = await page.locator('nav [aria-current=page]').getAttribute('href')
      // What is in a part that is closed is sent all the same: only the answer counts here.
      await form
        .locator('button[type=submit]')
        .first()
        .evaluate((button: HTMLButtonElement) => button.click())
      await page.getByRole('heading', { name: 'Are you sure?' }).waitFor()
      t.true(await page.getByRole('navigation', { name: 'Main' }).isVisible(), action)
      t.is(await page.locator('nav [aria-current=page]').getAttribute('href'), current, action)
      await page.getByRole('link', { name: 'Cancel' }).click()
      t.is(new URL(page.url()).pathname + new URL(page.url()).search, path, action)
    }
  }
  t.true(asked.size >= 10, [...asked].join('\n'))
  t.is(await written(), before, 'nothing is lost before it was said yes')
})
