import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import test from 'ava'
import type { Page } from 'playwright-core'
import { beforeScript, openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { fillProject, openApi, type Post, type ProjectPaths } from './filled-project.ts'
import { type Account, addAccount, sharedInstallation, signIn } from './installation.ts'

let app: HttpProduct
let account: Account
let post: Post
let paths: ProjectPaths

test.before(async () => {
  app = await sharedInstallation()
  account = await addAccount(app)
  post = await openApi(account)
  paths = await fillProject(account, post)
})

async function openList(page: Page): Promise<void> {
  await signIn(account, page)
  await page.goto(app.url + paths.checks)
  await page.locator('html[data-watching]').waitFor()
}

const addCheck = async (name: string) => (await post('checks/', { name, timeout: 3600 })).ping_url

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

test.serial('an update of a row keeps the ticked box in it and its focus', async (t) => {
  const url = await addCheck('Focused job')
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await openList(page)
  const box = page.getByRole('checkbox', { name: 'Select Focused job' })
  await box.check()
  await box.focus()
  await fetch(`${url}/fail`)
  await rowOf(page, 'Focused job').getByRole('img', { name: 'Down', exact: true }).waitFor()
  t.true(await box.isChecked())
  t.true(await box.evaluate((element) => element === document.activeElement))
})

test.serial('a disconnected page shows since when, and recovers without a reload', async (t) => {
  const lost = await addAccount(app)
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const broken: string[] = []
  page.on('pageerror', (error) => broken.push(error.message))
  await signIn(lost, page)
  await page.goto(app.url)
  await page.getByRole('link', { name: 'Add the first check' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Job')
  await page.getByRole('button', { name: 'Create check' }).click()
  await page.locator('html[data-watching]').waitFor()
  await page.route('**/*', (route) => route.abort())
  const uuid = page.url().slice(-36)
  await app.deps.db('checks').where({ uuid }).update({ name: 'Renamed', status: 'paused' })
  app.deps.announce({ kind: 'check', uuid, projectId: lost.project.id })
  await page.getByRole('alert').filter({ hasText: 'Not connected since' }).waitFor()
  t.regex((await page.getByRole('alert').textContent()) ?? '', /What you see is from \d\d:\d\d:\d\d/)
  await page.unroute('**/*')
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await eventually('the bar to disappear', async () => (await page.locator('#connection:visible').count()) === 0)
  t.deepEqual(broken, [])
})

test.serial('every page shows when pings are refused', async (t) => {
  let isAway = true
  app.deps.pingRefusals.add(() => (isAway ? ['broker: is away'] : []))
  t.teardown(() => {
    isAway = false
  })
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await openList(page)
  for (const name of ['checks', 'check', 'integration', 'settings'] as const) {
    await page.goto(app.url + paths[name])
    t.true(await page.getByText('Pings are being refused').isVisible(), name)
  }
  isAway = false
  await page.reload()
  t.is(await page.getByText('Pings are being refused').count(), 0)
})

test.serial('a busy process is not ready, but accepts pings and shows no problem on pages', async (t) => {
  let isBusy = true
  for (const readiness of [app.deps.readiness, app.deps.pingReadiness])
    readiness.add(() => (isBusy ? ['event loop: was 2500 ms late', 'consumer of live: not open for 9 s'] : []))
  t.teardown(() => {
    isBusy = false
  })
  t.is((await fetch(`${app.url}/readyz/pings`)).status, 503)
  const check = await app.deps.db('checks').where({ project_id: account.project.id }).first('uuid')
  t.is((await fetch(`${app.url}/ping/${check?.uuid}`)).status, 200)
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await openList(page)
  t.is(await page.getByText('Pings are being refused').count(), 0)
})

test.serial('while the broker is unavailable, a test message is shown as waiting, not as being sent', async (t) => {
  let isAway = true
  app.deps.pingRefusals.add(() => (isAway ? ['broker: is away'] : []))
  t.teardown(() => {
    isAway = false
  })
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(app.url + paths.integration)
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByText('It is sent when the message broker is available again').waitFor()
  t.is(await page.getByText('is on its way').count(), 0)
})

test.serial('an import previews and reports its changes, and refuses a file that is not an export', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(app.url + paths.settings)
  const document = page.getByLabel('JSON of an export')
  await document.fill('{"nope":1}')
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  t.regex(
    (await page.getByRole('alert').last().textContent()) ?? '',
    /Nothing is imported: the document must contain checks/,
  )
  const made = JSON.stringify({ checks: [{ uuid: randomUUID(), name: 'Imported', timeout: 3600, grace: 60 }] })
  await document.fill(made)
  await page.getByRole('button', { name: 'Show what it would do' }).click()
  await page.getByText('An import would do this: checks 1 created, 0 changed, 0 the same').waitFor()
  await page.getByText('Checks that are new: Imported').waitFor()
  t.is(await document.inputValue(), made, 'the document stays in the field after the preview')
  t.is(await app.deps.db('checks').where({ name: 'Imported' }).first(), undefined)
  for (const text of ['Imported: checks 1 created, 0 changed', 'Imported: checks 0 created, 0 changed, 1 the same']) {
    await document.fill(made)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText(text).waitFor()
  }
})

test.serial('a file that is dropped on the import fills its field and can be imported', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(app.url + paths.settings)
  const made = JSON.stringify({ checks: [{ uuid: randomUUID(), name: 'From a file', timeout: 3600, grace: 60 }] })
  const dropped = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([text], 'project.json', { type: 'application/json' }))
    return transfer
  }, made)
  await page.dispatchEvent('[data-drop]', 'drop', { dataTransfer: dropped })
  await page.getByText('project.json is in the field below').waitFor()
  t.is(await page.getByLabel('JSON of an export').inputValue(), made)
  await beforeScript(page, /app-[0-9a-f]+\.js/, async () => {
    await page.goto(app.url + paths.settings, { waitUntil: 'commit' })
    const file = { name: 'again.json', mimeType: 'application/json', buffer: Buffer.from(made) }
    await page.locator('[data-drop] input').setInputFiles(file)
  })
  await page.getByText('again.json is in the field below').waitFor()
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('Imported: checks 1 created').waitFor()
  t.truthy(await app.deps.db('checks').where({ name: 'From a file' }).first())
})

test.serial('the ping command on the page of a check works, and an ignored ping shows its reason', async (t) => {
  const url = await addCheck('Only by POST')
  const uuid = url.slice(-36)
  await post(`checks/${uuid}`, { methods: 'POST', filter_http_body: true, success_kw: 'done' })
  await fetch(url)
  await fetch(url, { method: 'POST', body: 'what' })
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(`${app.url}/checks/${uuid}`)
  await page.getByText('A POST request whose body holds “done” counts as success; any other is ignored.').waitFor()
  for (const why of ['only POST counts for this check', 'it held none of the keywords'])
    await page.getByText(why).first().waitFor()
  const line = (await page.locator('.snippets pre code').first().textContent()) ?? ''
  const { stdout } = await promisify(execFile)('sh', ['-c', line.replace('-o /dev/null', '')])
  t.is(stdout, 'OK')
  t.truthy(
    await eventually('the ping of the command to count', () =>
      app.deps.db('checks').where({ uuid, status: 'up' }).first(),
    ),
  )
})

test.serial('reloading a page does not send its form again', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(app.url + paths.people)
  await page.getByLabel('E-mail address').fill('guest@example.com')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.locator('.secret-once').waitFor()
  const invitations = () =>
    app.deps
      .db('one_time_links')
      .where({ purpose: 'invitation', organisation_id: account.organisation.id })
      .select('id')
  const [first] = await invitations()
  await page.reload()
  t.deepEqual(await invitations(), [first])
  t.is(await page.locator('.secret-once').count(), 0, 'the link is shown once')
  await page.getByLabel('E-mail address').fill(account.email)
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByText(`${account.email} belongs to the organisation already`).waitFor()
  t.is((await invitations()).length, 1)

  await page.goto(app.url + paths.settings)
  await page.getByLabel(/^Type “/).fill('another name')
  await page.getByRole('button', { name: 'Delete project' }).click()
  await page.getByText('that was not the name of the project').waitFor()
  t.is(new URL(page.url()).pathname, paths.settings, 'the address is that of the page, not of the form')
  await page.reload()
  t.is(await page.getByText('that was not the name of the project').count(), 0)
})

test.serial('copying works without https, and the page confirms it', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await signIn(account, page)
  await page.goto(app.url + paths.check)
  await page.evaluate(() =>
    document.addEventListener('copy', () => (document.title = getSelection()?.toString() ?? '')),
  )
  await page.getByRole('button', { name: 'Copy ping address', exact: true }).click()
  await page.getByText('Copied', { exact: true }).waitFor()
  t.pass()
})

test.serial('assigning an integration in a row of the list keeps the scroll position', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1280, height: 300 } })
  const page = await browser.context.newPage()
  await openList(page)
  await page.evaluate(() => scrollTo(0, 120))
  const toggle = page.getByRole('button', { name: /On-call .* for Smoke test/ })
  t.is(await toggle.getAttribute('aria-pressed'), 'false')
  await toggle.click()
  await page.locator('button[aria-pressed=true][title*="for Smoke test"]').waitFor()
  t.true((await page.evaluate(() => scrollY)) > 0)
})

test.serial('switching an integration off and on in its row keeps the page and the focus', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1280, height: 300 } })
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(app.url + paths.integrations)
  const control = page.getByRole('switch', { name: 'On-call notifies' })
  t.is(await control.getAttribute('aria-checked'), 'true')
  await control.focus()
  await page.keyboard.press('Enter')
  await page.getByText('it sends no notifications').waitFor()
  t.is(await control.getAttribute('aria-checked'), 'false')
  t.true(await control.evaluate((element) => element === document.activeElement))
  t.is(new URL(page.url()).pathname, paths.integrations)
  await page.keyboard.press('Enter')
  await page.getByText('is switched on').waitFor()
})

test.serial('without scripts nothing is deleted before a confirmation page', async (t) => {
  const url = await addCheck('Kept until confirmed')
  await using browser = await openBrowser({ javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(`${app.url}/checks/${url.slice(-36)}`)
  await page.getByRole('button', { name: 'Delete check' }).click()
  await page.getByText('Delete Kept until confirmed with its whole log').waitFor()
  t.truthy(
    await app.deps
      .db('checks')
      .where({ uuid: url.slice(-36) })
      .first(),
  )
  await page.getByRole('button', { name: 'Delete check', exact: true }).click()
  await page.getByText('The check is deleted').waitFor()
  t.is(
    await app.deps
      .db('checks')
      .where({ uuid: url.slice(-36) })
      .first(),
    undefined,
  )
})
