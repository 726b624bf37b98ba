import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import type { HttpProduct } from '../../support/product.ts'
import { fillProject, openApi, type ProjectPaths } from './filled-project.ts'
import { type Account, addAccount, invite, sharedInstallation, signIn, visitorOf } from './installation.ts'
import { addEndpoint, addPack, addRiskAccount } from './risk-installation.ts'

let app: HttpProduct
let account: Account
let paths: ProjectPaths

test.before(async () => {
  app = await sharedInstallation()
  account = await addAccount(app)
  paths = await fillProject(account, await openApi(account))
  // This also starts a second session, so that one can be ended.
  await invite(account, 'new@example.com')
  const { db } = app.deps
  await db('projects').insert({ organisation_id: account.organisation.id, name: 'Somewhere else' })
  const filter = { user_id: account.userId, project_id: account.project.id, name: 'Burning', query: 'status=down' }
  await db('saved_filters').insert(filter)
})

/** Returns the actions of the forms of a page that ask for a confirmation. */
async function confirmedForms(page: Page): Promise<string[]> {
  return await page
    .locator('form:has(input[name=_question])')
    .evaluateAll((forms) => forms.map((form) => form.getAttribute('action') ?? ''))
}

/** Matches the actions of forms that cannot be undone. After the rotation of a project's key the old key still works. */
const ENDS =
  /\/(delete|remove|revoke|(?<!\/keys\/\d+\/)rotate|withdraw|disconnect|end|cancel|release|transfer|sign-out-everywhere)$/

/** Returns the actions of forms that match ENDS without a confirmation, except those in which a name must be typed. */
async function unconfirmedForms(page: Page): Promise<string[]> {
  const actions = await page
    .locator('form[method=post]:not(:has(input[name=_question], input[required]))')
    .evaluateAll((forms) => forms.map((form) => form.getAttribute('action') ?? ''))
  return actions.filter((action) => ENDS.test(action))
}

/** Returns the numbers of rows that the forms could delete, and the ends of windows, as one text. */
async function countRows(): Promise<string> {
  const { rows } = await app.deps.db.raw(
    `WITH of_project AS (SELECT id AS project_id FROM projects WHERE id = ?)
     SELECT (SELECT count(*) FROM checks JOIN of_project USING (project_id)) || ' ' ||
            (SELECT count(*) FROM integrations JOIN of_project USING (project_id)) || ' ' ||
            (SELECT count(*) FROM project_keys JOIN of_project USING (project_id)) || ' ' ||
            (SELECT count(*) FROM alert_policies JOIN of_project USING (project_id)) || ' ' ||
            (SELECT count(*) FROM status_notes JOIN of_project USING (project_id) WHERE ended_at IS NULL) || ' ' ||
            (SELECT count(*) FROM status_pages JOIN of_project USING (project_id)) || ' ' ||
            (SELECT count(*) FROM saved_filters JOIN of_project USING (project_id)) || ' ' ||
            (SELECT count(*) FROM sessions WHERE user_id = ?) || ' ' ||
            (SELECT string_agg(coalesce(ends_at::text, ''), ' ' ORDER BY id)
             FROM maintenance_windows JOIN of_project USING (project_id)) AS held`,
    [account.project.id, account.userId],
  )
  return rows[0].held
}

/** Returns the path of an action with placeholders for numbers and uuids. */
const kindOf = (action: string) => action.replaceAll(/\/(?:\d+|[0-9a-f-]{36})(?=\/|$)/g, '/:id')

/** Sends one form of each kind that needs a confirmation, and cancels. Returns the kinds. */
async function cancelEach(
  t: ExecutionContext,
  page: Page,
  base: string,
  pages: readonly string[],
): Promise<Set<string>> {
  const requested = new Set<string>()
  for (const path of pages) {
    await page.goto(base + path)
    t.deepEqual(await unconfirmedForms(page), [], path)
    for (const action of await confirmedForms(page)) {
      if (requested.has(kindOf(action))) continue
      requested.add(kindOf(action))
      const form = page.locator(`form[action="${action}"]:has(input[name=_question])`)
      const here = page.locator(':is(nav[aria-label=Main], .who) [aria-current=page]')
      const current = await here.getAttribute('href')
      // A click by script also works in a closed section.
      await form
        .locator('button[type=submit]')
        .first()
        .evaluate((button: HTMLButtonElement) => button.click())
      await page.getByRole('heading', { name: 'Are you sure?' }).waitFor()
      t.true(await page.getByRole('navigation', { name: 'Main' }).isVisible(), action)
      t.is(await here.getAttribute('href'), current, action)
      await page.getByRole('link', { name: 'Cancel' }).click()
      t.is(new URL(page.url()).pathname + new URL(page.url()).search, path, action)
    }
  }
  return requested
}

test.serial(
  'without scripts every destructive form needs a confirmation, and its page marks the same navigation entry',
  async (t) => {
    await using browser = await openBrowser({ javaScriptEnabled: false, viewport: { width: 1440, height: 900 } })
    const page = await browser.context.newPage()
    await signIn(account, page)
    const before = await countRows()
    const requested = await cancelEach(t, page, app.url, Object.values(paths))
    for (const kind of [
      /filters\/:id\/delete/,
      /sessions\/:id\/end/,
      /everywhere/,
      /notes\/:id\/end/,
      /windows\/:id\/end/,
      /transfer/,
    ])
      t.true(
        [...requested].some((action) => kind.test(action)),
        `no form matches ${kind}: ${[...requested].join()}`,
      )
    t.is(await countRows(), before, 'nothing is lost before the confirmation')
  },
)

test.serial('without scripts several checks are deleted only after a page has shown their number', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false, viewport: { width: 1440, height: 900 } })
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(app.url + paths.checks)
  const before = await countRows()
  const remove = async (names: readonly string[]) => {
    for (const name of names) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'Are you sure?' }).waitFor()
  }
  await remove(['Mail queue', 'Smoke test'])
  const question = (await page.getByText('cannot be undone').textContent()) ?? ''
  t.regex(question, /^Delete 2 checks with their logs: (Mail queue, Smoke test|Smoke test, Mail queue)\?/)
  await page.getByRole('link', { name: 'Cancel' }).click()
  t.is(await countRows(), before)
  t.is(new URL(page.url()).pathname, paths.checks, 'back where they were chosen')
  await remove(['Smoke test'])
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('1 check deleted').waitFor()
  await page.waitForLoadState()
  t.is(await page.getByRole('link', { name: 'Smoke test', exact: true }).count(), 0)
  t.is(await page.getByRole('link', { name: 'Mail queue', exact: true }).count(), 1)
})

test.serial(
  'without scripts the risk console confirms before it deletes anything, and shows the current position',
  async (t) => {
    const it = await addRiskAccount(['risk-signals', 'agents'])
    const base = new URL(it.base).pathname
    const owner = await visitorOf(it)
    const pack = `${base}/packs/${await addPack(it)}`
    await owner.post(`${pack}/shares`, {}, pack)
    await owner.post(`${base}/clients`, { name: 'Loan system' }, `${base}/clients`)
    await owner.post(`${base}/agents`, { name: 'desk', scope: 'risk-signals:read' }, `${base}/agents`)
    const endpoint = await addEndpoint(it, 'SANDBOX', 'https://example.com/hook')
    const { db } = it.app.deps
    const ofOrganisation = { organisation_id: it.organisation.id }
    const held = async () => ({
      clients: await db('clients').where(ofOrganisation).whereNull('disabled_at').pluck('client_id'),
      keys: await db('agent_keys').where(ofOrganisation).whereNull('revoked_at').pluck('name'),
      families: await db('organisation_families').where(ofOrganisation).pluck('family'),
      endpoints: await db('webhook_endpoints')
        .where({ ...ofOrganisation, state: 'ACTIVE' })
        .pluck('id'),
      shares: await db('pack_shares')
        .where({ pack_id: pack.split('/').at(-1) })
        .whereNull('revoked_at')
        .pluck('id'),
    })
    const before = await held()
    t.true(
      Object.values(before).every((rows) => rows.length > 0),
      JSON.stringify(before),
    )
    await using browser = await openBrowser({ javaScriptEnabled: false, viewport: { width: 1440, height: 900 } })
    const page = await browser.context.newPage()
    await signIn(it, page)
    const pages = [pack, `${base}/clients`, `${base}/agents`, `${base}/webhooks/${endpoint}`]
    const requested = [...(await cancelEach(t, page, it.app.url, pages))].map((action) => action.split('/').at(-1))
    t.deepEqual(requested.toSorted(), ['delete', 'disable', 'revoke', 'revoke', 'revoke', 'revoke', 'rotate', 'rotate'])
    t.deepEqual(await held(), before, 'nothing is lost before the confirmation')
  },
)
