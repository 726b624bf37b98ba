import test from 'ava'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import { openApi } from './filled-project.ts'
import { type Account, addAccount, sharedInstallation, signIn } from './installation.ts'
import { axeProblems, EVERY_LOOK, ONE_LOOK_A_LAYOUT, problemsOf } from './page-problems.ts'

/** Adds two webhook integrations that send the state and the acknowledge link to the sink. */
async function addIntegrations(account: Account, sink: HttpSink): Promise<void> {
  const post = await openApi(account)
  for (const name of ['Chat', 'Phone']) {
    const url = `${sink.url}/${name.toLowerCase()}`
    const side = (way: string) => ({
      [`url_${way}`]: url,
      [`method_${way}`]: 'POST',
      [`body_${way}`]: '$STATUS $ACK_URL',
    })
    await post('channels/', { kind: 'webhook', name, config: { ...side('down'), ...side('up') } })
  }
}

test.serial(
  'a new user creates a policy, acknowledges a notification, reads its reason and runs a simulation',
  async (t) => {
    await using sink = await openHttpSink()
    await using browser = await openBrowser()
    const page = await browser.context.newPage()
    const account = await addAccount(await sharedInstallation())
    const { app, project } = account
    await signIn(account, page)
    await addIntegrations(account, sink)

    await page.goto(app.url)
    await page.getByRole('link', { name: 'Policies' }).click()
    await page.getByRole('link', { name: 'Add policy' }).click()
    await page.getByLabel('Name', { exact: true }).fill('On call')
    await page.getByLabel('Tags').fill('prod')
    const first = page.locator('#step-1')
    await first.getByLabel('Selected integrations', { exact: true }).check()
    await first.getByLabel('Chat').check()
    await page.getByRole('button', { name: 'Add a step' }).click()
    const second = page.locator('#step-2')
    await second.getByLabel('Phone').check()
    t.is(await first.getByLabel('Chat').isChecked(), true, 'what was chosen before is kept')
    await page.getByRole('button', { name: 'Create policy' }).click()
    await page.locator('.plan-timeline', { hasText: /At once Chat.*After 15 min Phone/ }).waitFor()

    await page.getByRole('link', { name: 'Checks' }).click()
    await page.getByRole('link', { name: 'Add check' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('db-backup')
    await page.getByLabel('Tags').fill('prod')
    await page.getByRole('button', { name: 'Create check' }).click()
    await page.getByRole('heading', { name: 'db-backup' }).waitFor()
    const check = new URL(page.url()).pathname
    await fetch(`${app.url}/ping/${check.split('/')[2]}`)
    await fetch(`${app.url}/ping/${check.split('/')[2]}/fail`)
    const notified = await sink.waitFor(1)
    t.is(notified.path, '/chat')
    const [status, link = ''] = notified.body.toString().split(' ')
    t.is(status, 'down')

    const state = async () => (await app.db('incidents').where({ project_id: project.id }).first('state'))?.state
    const { pathname } = new URL(link)
    for (let n = 0; n < 10; n++) {
      const preview = await fetch(app.url + pathname, { method: n % 2 === 0 ? 'GET' : 'HEAD' })
      t.is(preview.status, 200)
    }
    t.is(await state(), 'alerting', 'a preview acknowledges nothing')
    await page.goto(app.url + check)
    await page.getByText(/^Next notification: Phone in 1[45] min, if it is still down/).waitFor()
    await using phone = await openBrowser({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } })
    const visitor = await phone.context.newPage()
    await visitor.goto(app.url + pathname)
    // The checks of accessibility need scripts.
    const linked = await browser.context.newPage()
    t.is(await state(), 'alerting')
    t.deepEqual(await problemsOf(linked, app.url + pathname, EVERY_LOOK), [])
    await visitor.getByRole('button', { name: 'Acknowledge' }).click()
    await eventually('the acknowledgement', async () => (await state()) === 'acknowledged')
    await visitor.getByText('via Chat').waitFor()
    t.deepEqual(await problemsOf(linked, app.url + pathname, ONE_LOOK_A_LAYOUT), [])

    await page.goto(app.url + check)
    await page.getByText('Next notification: none, it is acknowledged.').waitFor()
    await page.getByText('On call (tag prod): at once: Chat').waitFor()
    await page.getByText('Notified: the conditions of the policy were met.').first().waitFor()
    await page.getByText('Chat: delivered', { exact: true }).waitFor()
    await app.db('checks').where({ name: 'db-backup' }).update({ tz: 'Asia/Kolkata' })
    await page.getByRole('link', { name: 'Incidents' }).click()
    await page.getByRole('link', { name: 'db-backup', exact: true }).click()
    await page.locator('.sentence', { hasText: 'Acknowledged via Chat' }).waitFor()
    await page.locator('.timeline + .hint', { hasText: 'Times in Asia/Kolkata.' }).waitFor()
    await page.locator('.timeline', { hasText: /Notified Chat.*delivered/ }).waitFor()
    await page.locator('.timeline', { hasText: /Acknowledged.*via Chat/ }).waitFor()

    await page.getByRole('link', { name: 'Policies' }).click()
    await page.getByRole('link', { name: 'Simulator' }).click()
    const simulated = page.getByLabel('Check', { exact: true }).locator(':checked')
    t.is(await simulated.textContent(), 'db-backup', 'the newest incident')
    t.is(await page.getByLabel('Compare with').locator(':checked').textContent(), 'On call')
    t.false(await page.getByLabel('Pings', { exact: true }).isVisible())
    await page.getByLabel('Compare with').selectOption({ label: 'no policy' })
    await page.getByRole('button', { name: 'Simulate' }).click()
    const outcomes = page.locator('.outcome')
    const [now, other] = [outcomes.first().getByRole('listitem'), outcomes.last().getByRole('listitem')]
    await now.filter({ hasText: 'Chat: DOWN' }).waitFor()
    t.is(await other.filter({ hasText: 'Chat: DOWN' }).count(), 1, 'without a policy its own integrations are notified')
    t.is(await other.filter({ hasText: 'Phone: DOWN' }).count(), 1)
    t.is(await now.filter({ hasText: 'Phone: DOWN' }).count(), 0)
    t.deepEqual(await axeProblems(page, ONE_LOOK_A_LAYOUT), [])
    t.is(sink.requests.length, 1, 'a simulation sends no notification')
  },
)
