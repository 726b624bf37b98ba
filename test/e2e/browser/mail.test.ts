import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { openProduct } from '../../support/product.ts'
import { readTypescript } from '../../support/typescript-process.ts'
import { addAccount, signIn } from './installation.ts'

const CATCHER = fileURLToPath(new URL('../../../stack/mail-catcher.ts', import.meta.url))

/** Opens the mail catcher of a trial installation, as `make up` starts it. */
async function openCatcher(): Promise<AsyncDisposable & { smtpUrl: string; page: string }> {
  const [smtp, http] = [await freePort(), await freePort()]
  const child = spawn(process.execPath, [readTypescript, CATCHER], {
    env: { PATH: process.env.PATH ?? '', MAIL_SMTP_PORT: String(smtp), MAIL_HTTP_PORT: String(http) },
    stdio: 'ignore',
  })
  const page = `http://127.0.0.1:${http}`
  await eventually('the catcher to listen', () =>
    fetch(`${page}/livez`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return {
    smtpUrl: `smtp://127.0.0.1:${smtp}`,
    page,
    async [Symbol.asyncDispose]() {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await gone
    },
  }
}

/** Reads the page of caught mails until one has the subject. */
async function readMail(page: Page, catcher: string, subject: RegExp) {
  await eventually('the mail to be caught', async () => {
    await page.goto(catcher)
    return (await page.locator('summary').filter({ hasText: subject }).count()) > 0
  })
  const mail = page
    .locator('details')
    .filter({ has: page.locator('summary').filter({ hasText: subject }) })
    .first()
  if (!(await mail.evaluate((one: HTMLDetailsElement) => one.open))) await mail.locator('summary').click()
  return mail
}

test.serial('the mail catcher shows a confirmation, a test message and a password reset', async (t) => {
  await using catcher = await openCatcher()
  await using app = await openProduct({
    listener: 'http',
    workers: ['ping-evaluator', 'sweeper', 'notifier', 'mailer'],
    env: { SMTP_URL: catcher.smtpUrl },
  })
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const account = await addAccount(app)
  await signIn(account, page)
  await page.goto(app.url)
  await page.getByRole('link', { name: 'Connect an integration' }).click()
  await page.getByRole('link', { name: 'E-mail' }).click()
  await page.getByLabel('Name', { exact: true }).fill('On-call')
  await page.getByLabel('E-mail address').fill('oncall@example.com')
  await page.getByRole('button', { name: 'Create integration' }).click()
  await page.getByText('Waiting for its recipient').waitFor()
  const { origin, pathname } = new URL(page.url())
  const integration = origin + pathname

  const requested = await readMail(page, catcher.page, /alerts/i)
  await requested.locator('a[href*="/confirm/"]').first().click()
  await page.getByRole('button').first().click()
  await page.getByRole('heading', { name: 'You get alerts from now on' }).waitFor()

  await page.goto(integration)
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.locator('[data-state=delivered]').waitFor()
  const tried = await readMail(page, catcher.page, /Test from Signalbox: this is a test message/)
  t.notRegex((await tried.locator('pre').textContent()) ?? '', /went down|\/checks\//, 'it is no outage')
  await tried.locator('a[href*="/integrations/"]').first().click()
  // A script removes the message from the address.
  await page.waitForURL(integration)

  await page.getByRole('button', { name: 'Test a recovery' }).click()
  await eventually('both tests to be sent', async () => {
    await page.goto(integration)
    return (await page.locator('[data-state=delivered]').count()) === 2
  })
  const recovery = await readMail(page, catcher.page, /Test from Signalbox/)
  t.regex((await recovery.locator('pre').textContent()) ?? '', /No check is up again/)

  await page.goto(integration)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Forgot the password?' }).click()
  await page.getByLabel('E-mail address').fill(account.email)
  await page.getByRole('main').getByRole('button').click()
  await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
  const reset = await readMail(page, catcher.page, /password/i)
  await reset.locator('a[href*="/reset-password/"]').first().click()
  await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
})
