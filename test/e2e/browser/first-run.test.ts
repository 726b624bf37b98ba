import test from 'ava'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openProduct } from '../../support/product.ts'
import { openSmtpSink } from '../../support/smtp-sink.ts'
import { addAccount, openInstallation, password, setUp, sharedInstallation, visitorOf } from './installation.ts'

test.serial('after the set-up link, a first check goes down, notifies a user and recovers', async (t) => {
  await using sink = await openHttpSink()
  await using app = await openInstallation()
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const broken: string[] = []
  page.on('pageerror', (error) => broken.push(error.message))

  // Before the set-up the sign-in page explains the next step and has no form, which could only refuse.
  await page.goto(`${app.url}/sign-in`)
  t.true(await page.getByText('No account exists yet').isVisible())
  t.is(await page.getByLabel('Password').count(), 0)
  await setUp(app, page)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('E-mail address').fill('ada@example.com')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Checks' }).waitFor()

  // An integration that answers its test.
  await page.getByRole('link', { name: 'Connect an integration' }).click()
  await page.getByRole('link', { name: 'Webhook' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Incident bot')
  await page.getByLabel('URL for failures').fill('ftp://nowhere')
  await page.getByRole('button', { name: 'Create integration' }).click()
  await page.locator('.field-error').getByText('Must be a URL').waitFor()
  await page.getByLabel('URL for failures').fill(`${sink.url}/down`)
  await page.getByText('When a check recovers').click()
  await page.getByLabel('URL for recoveries').fill(`${sink.url}/up`)
  await page.getByRole('button', { name: 'Create integration' }).click()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await sink.waitFor((request) => request.path === '/down')
  await page.locator('[data-state=delivered]').waitFor()

  // A check, refused once by the rules of the API.
  await page.getByRole('link', { name: 'Checks' }).click()
  await page.getByRole('link', { name: 'Add the first check' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Nightly backup')
  await page.getByLabel('Period', { exact: true }).fill('0')
  await page.getByRole('button', { name: 'Create check' }).click()
  await page.getByText('The period is too small').waitFor()
  await page.waitForLoadState()
  t.is(await page.evaluate(() => document.activeElement?.id), 'timeout', 'what is wrong has the focus')
  t.is(await page.getByLabel('Name', { exact: true }).inputValue(), 'Nightly backup', 'what was typed stays')
  await page.getByLabel('Period', { exact: true }).fill('1')
  await page.getByRole('button', { name: 'Create check' }).click()
  await page.getByText('Waiting for its first ping').waitFor()
  const path = new URL(page.url()).pathname
  const uuid = path.split('/').at(-1) ?? ''

  // A ping shows up without a reload.
  await page.locator('html[data-watching]').waitFor()
  const pingUrl = (await page.locator('.ping-url code').first().textContent()) ?? ''
  t.is(pingUrl, `${app.url}/ping/${uuid}`)
  t.is(await (await fetch(pingUrl)).text(), 'OK')
  await page.getByText('Up. The last ping came').waitFor()
  await page.getByRole('link', { name: /#1 OK/ }).waitFor()

  // The check becomes overdue; the sweeper takes it down, and the open page becomes red.
  await page.goto(`${app.url}/`)
  await page.locator('html[data-watching]').waitFor()
  await app.deps.db.raw(
    `UPDATE checks SET last_ping = now() - interval '2 days', alert_after = now() - interval '1 minute' WHERE uuid = ?`,
    [uuid],
  )
  await page.getByRole('img', { name: 'Down' }).waitFor()
  t.regex(await page.title(), /^1 down/)
  t.regex((await page.locator('link[rel=icon]').getAttribute('href')) ?? '', /icon-down/)
  await eventually('the alert', () => sink.requests.filter((request) => request.path === '/down').length === 2)

  // It comes back.
  await fetch(pingUrl)
  await sink.waitFor((request) => request.path === '/up')
  await page.getByRole('img', { name: 'Up' }).waitFor()
  await page.getByRole('link', { name: 'Nightly backup', exact: true }).click()
  await page.getByText('“down” to').first().waitFor()
  await page.getByText('“up” to').first().waitFor()
  await page.getByText('went down').waitFor()
  t.deepEqual(broken, [])
})

test.serial('from the set-up link to the first alert by mail takes at most seven clicks', async (t) => {
  await using mails = await openSmtpSink()
  await using app = await openProduct({
    listener: 'http',
    workers: ['ping-evaluator', 'sweeper', 'notifier'],
    env: { SMTP_URL: mails.url },
  })
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  // A press of the enter key is not counted: its click has no detail.
  await browser.context.addInitScript(() =>
    document.addEventListener(
      'click',
      ({ detail }) => detail > 0 && localStorage.setItem('clicks', String(Number(localStorage.getItem('clicks')) + 1)),
      true,
    ),
  )
  await setUp(app, page)

  // The empty page waits for the first ping, and shows the list when it arrives.
  await page.getByText('Waiting for your first ping').waitFor()
  await page.locator('html[data-watching]').waitFor()
  const command = (await page.getByRole('region', { name: 'First ping', exact: true }).textContent()) ?? ''
  const [, url = ''] = /^curl '(http[^']+)'$/.exec(command) ?? []
  t.is(await (await fetch(url)).text(), 'Created')
  await page.getByText('Your first ping has arrived').waitFor()
  await page
    .getByRole('row', { name: /first-check/ })
    .getByRole('img', { name: 'Up' })
    .waitFor()

  // A new check creates its integration; the address of the user is filled in.
  await page.getByRole('link', { name: 'Add check' }).click()
  t.is(await page.getByLabel('Its e-mail address, webhook URL or topic').inputValue(), 'ada@example.com')
  await page.getByLabel('Name', { exact: true }).fill('Nightly backup')
  await page.getByRole('button', { name: 'Create check' }).click()
  const pingUrl = (await page.locator('.ping-url code').first().textContent()) ?? ''
  await fetch(`${pingUrl}/fail`)
  const mail = await mails.waitFor(1)
  t.deepEqual(mail.to, ['ada@example.com'])
  t.regex(mail.raw.toString(), /^Subject: .*Nightly backup/m)
  const clicks = Number(await page.evaluate(() => localStorage.getItem('clicks')))
  t.true(clicks >= 3 && clicks <= 7, `${clicks} clicks`)
})

test.serial('if a new check cannot create its integration, the form stays and no check is created', async (t) => {
  const account = await addAccount(await sharedInstallation())
  const visitor = await visitorOf(account)
  const form = `/projects/${account.project.uuid}/checks/new`
  const fields = { name: 'Nightly', timeout: '1', timeout_unit: 'days', grace: '1', grace_unit: 'hours' }
  const refused = await visitor.post(
    `/projects/${account.project.uuid}/checks`,
    { ...fields, new_kind: 'slack', new_value: 'no address' },
    form,
  )
  t.is(refused.status, 400)
  t.regex(refused.text, /Must be a URL/)
  const checks = () => account.app.deps.db('checks').where({ project_id: account.project.id })
  t.deepEqual(await checks(), [])
  const added = { ...fields, new_kind: 'slack', new_value: 'https://hooks.slack.example/services/1' }
  t.is((await visitor.post(`/projects/${account.project.uuid}/checks`, added, form)).status, 303)
  const [check] = await checks()
  t.is((await account.app.deps.db('check_integrations').where({ check_id: check?.id })).length, 1)
})
