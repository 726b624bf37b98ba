import test from 'ava'
import type { Page } from 'playwright-core'
import { PASSWORD_FIELDS } from '../../../ingress/web/forms/inputs.tsx'
import { openBrowser } from '../../support/browser.ts'
import { type Account, addAccount, sharedInstallation, signIn, signInByForm } from './installation.ts'

let account: Account

test.before(async () => {
  account = await addAccount(await sharedInstallation())
})

/** Fills in the form of a check and ends the session before it is sent. */
async function typeCheck(page: Page, name: string) {
  await signIn(account, page)
  await page.goto(`${account.app.url}/projects/${account.project.uuid}/checks/new`)
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Description').fill('Two lines\nof text')
  await account.app.deps.db('sessions').where({ user_id: account.userId }).delete()
}

for (const javaScriptEnabled of [true, false])
  test.serial(
    `a form from an ended session can be sent after signing in again, ${javaScriptEnabled ? 'with' : 'without'} scripts`,
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
      await signInByForm(account, beside)
      t.is((await account.app.deps.db('checks').where({ name })).length, 0)
      await page.getByRole('button', { name: 'Send it now' }).click()
      await page.getByRole('heading', { name }).waitFor()
      const made = await account.app.deps.db('checks').where({ name }).first('description')
      t.is(made?.description.replaceAll('\r', ''), 'Two lines\nof text')
    },
  )

test.serial('after signing in again in another tab, a preserved form is sent only after a confirmation', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await typeCheck(page, 'Sent twice')
  await signIn(account, page)
  await page.getByRole('button', { name: 'Create check' }).click()
  await page.getByText(`You are ${account.email} now`).waitFor()
  t.is((await account.app.deps.db('checks').where({ name: 'Sent twice' })).length, 0)
  await page.getByRole('button', { name: 'Send it now' }).click()
  await page.getByRole('heading', { name: 'Sent twice' }).waitFor()
  t.pass()
})

test.serial('forms of another site and passwords are not preserved', async (t) => {
  const send = (site: string | undefined, body: string) =>
    fetch(`${account.app.url}/projects/${account.project.uuid}/checks`, {
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
    const answer = await own.text()
    t.false(answer.includes('hunter2'), field)
    t.true(answer.includes('Passwords are not kept'), field)
  }
  t.true((await (await send('same-origin', 'name=Planted&_csrf=x')).text()).includes('Planted'))
})

test.serial('every password field of the account pages is excluded from preserved forms', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(`${account.app.url}/account`)
  const inputs = await page.locator('input[type=password]').all()
  const names = await Promise.all(inputs.map((input) => input.getAttribute('name')))
  t.deepEqual(names.toSorted(), [...PASSWORD_FIELDS].toSorted())
})
