import test from 'ava'
import type { Page } from 'playwright-core'
import { PASSWORD_FIELDS } from '../../../ingress/web/components/form.tsx'
import { openBrowser } from '../../support/browser.ts'
import type { HttpProduct } from '../../support/product.ts'
import { openInstallation, setUp, signIn } from './installation.ts'

let app: HttpProduct

test.before(async () => {
  app = await openInstallation()
})
test.after.always(() => app?.[Symbol.asyncDispose]())

test.serial('before the set-up the sign-in page says what to do, and has no form that would only refuse', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await page.goto(`${app.url}/sign-in`)
  t.true(await page.getByText('Nobody has an account yet').isVisible())
  t.is(await page.getByLabel('Password').count(), 0)
  await setUp(app, page)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Password').waitFor()
  t.is(await page.getByLabel('Password').count(), 1)
})

/** A check typed in, its session over before it is sent. */
async function typeCheck(page: Page, name: string) {
  await signIn(app, page, 'ada@example.com')
  await page.getByRole('link', { name: 'Add check', exact: true }).click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Description').fill('Two lines\nof text')
  await app.deps.db('sessions').delete()
}

for (const javaScriptEnabled of [true, false])
  test.serial(
    `what was typed when the session ended is sent after signing in beside it, ${javaScriptEnabled ? 'with' : 'without'} scripts`,
    async (t) => {
      await using browser = await openBrowser({ javaScriptEnabled })
      const page = await browser.context.newPage()
      const name = `Kept ${javaScriptEnabled}`
      await typeCheck(page, name)
      await page.getByRole('button', { name: 'Create check' }).click()
      await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
      const [beside] = await Promise.all([
        browser.context.waitForEvent('page'),
        page.getByRole('link', { name: 'Sign in' }).click(),
      ])
      await beside.waitForURL('**/sign-in')
      await signIn(app, beside, 'ada@example.com')
      t.is((await app.deps.db('checks').where({ name })).length, 0)
      await page.getByRole('button', { name: 'Send it now' }).click()
      await page.getByRole('heading', { name }).waitFor()
      const made = await app.deps.db('checks').where({ name }).first('description')
      t.is(made?.description.replaceAll('\r', ''), 'Two lines\nof text')
    },
  )

test.serial('who has signed in again elsewhere meanwhile says that it is still wanted', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await typeCheck(page, 'Sent twice')
  await signIn(app, await browser.context.newPage(), 'ada@example.com')
  await page.getByRole('button', { name: 'Create check' }).click()
  await page.getByText('You are ada@example.com now').waitFor()
  t.is((await app.deps.db('checks').where({ name: 'Sent twice' })).length, 0)
  await page.getByRole('button', { name: 'Send it now' }).click()
  await page.getByRole('heading', { name: 'Sent twice' }).waitFor()
  t.pass()
})

test.serial('a form of another site is kept for nobody, and neither is a password', async (t) => {
  const project = await app.deps.db('projects').first('uuid')
  const send = (site: string | undefined, body: string) =>
    fetch(`${app.url}/projects/${project?.uuid}/checks`, {
      method: 'POST',
      body: new URLSearchParams(body),
      headers: { ...(site && { 'sec-fetch-site': site }) },
    })
  for (const site of ['cross-site', 'same-site', 'none', undefined]) {
    const answer = await send(site, 'name=Planted&_csrf=x')
    t.is(answer.status, 403)
    t.false((await answer.text()).includes('Planted'), site)
  }
  for (const field of PASSWORD_FIELDS) {
    const own = await send('same-origin', `name=Planted&_csrf=x&${field}=hunter2`)
    t.is(own.status, 403)
    const said = await own.text()
    t.false(said.includes('hunter2'), field)
    t.true(said.includes('Passwords are not kept'), field)
  }
  t.true((await (await send('same-origin', 'name=Planted&_csrf=x')).text()).includes('Planted'))
})

test.serial('every field of the account in which a password is typed is one of those', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(app, page, 'ada@example.com')
  await page.goto(`${app.url}/account`)
  const inputs = await page.locator('input[type=password]').all()
  const names = await Promise.all(inputs.map((input) => input.getAttribute('name')))
  t.deepEqual(names.toSorted(), [...PASSWORD_FIELDS].toSorted())
})
