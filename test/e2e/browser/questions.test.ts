import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { signedIn } from '../../ingress/web/people.ts'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { type FurnishedPaths, furnish } from './furnished.ts'
import { openInstallation, setUp, signIn } from './installation.ts'
import { addEndpoint, openRiskInstallation, signInAsOwner } from './risk-installation.ts'

let app: HttpProduct
let paths: FurnishedPaths

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
  const { db } = app.deps
  const [project, user] = await Promise.all([db('projects').first('id', 'organisation_id'), db('users').first('id')])
  await db('projects').insert({ organisation_id: project?.organisation_id, name: 'Somewhere else' })
  await db('saved_filters').insert({
    user_id: user?.id,
    project_id: project?.id,
    name: 'Burning',
    query: 'status=down',
  })
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

/** Where a form is sent after which something is gone, has ended or opens nothing any more. */
const ENDS = /\/(delete|remove|revoke|rotate|withdraw|disconnect|end|cancel|release|transfer|sign-out-everywhere)$/

/** Those of them that do not ask; to type the name of what is lost is an answer. */
async function unasked(page: Page): Promise<string[]> {
  const actions = await page
    .locator('form[method=post]:not(:has(input[name=_question], input[required]))')
    .evaluateAll((forms) => forms.map((form) => form.getAttribute('action') ?? ''))
  return actions.filter((action) => ENDS.test(action))
}

/** What is there to be lost. */
async function written(): Promise<string> {
  const { rows } = await app.deps.db.raw(
    `SELECT (SELECT count(*) FROM checks) || ' ' || (SELECT count(*) FROM channels) || ' ' ||
            (SELECT count(*) FROM project_keys) || ' ' || (SELECT count(*) FROM policies) || ' ' ||
            (SELECT count(*) FROM status_notes WHERE ended_at IS NULL) || ' ' ||
            (SELECT count(*) FROM status_pages) || ' ' || (SELECT count(*) FROM saved_filters) || ' ' ||
            (SELECT count(*) FROM sessions) || ' ' ||
            (SELECT string_agg(coalesce(ends_at::text, ''), ' ' ORDER BY id) FROM windows) AS held`,
  )
  return rows[0].held
}

/** Sends every form of these pages after which something is lost, and takes it back. @returns where they are sent */
async function askedOn(t: ExecutionContext, page: Page, base: string, pages: readonly string[]): Promise<Set<string>> {
  const asked = new Set<string>()
  for (const path of pages) {
    await page.goto(base + path)
    t.deepEqual(await unasked(page), [], path)
    for (const action of await dangerous(page)) {
      if (asked.has(action)) continue
      asked.add(action)
      const form = page.locator(`form[action="${action}"]:has(input[name=_question])`)
      const here = page.locator(':is(nav[aria-label=Main], .who) [aria-current=page]')
      const current = await here.getAttribute('href')
      // What is in a part that is closed is sent all the same: only the answer counts here.
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
  return asked
}

test.serial('without scripts every form that loses something asks first, and says where the reader is', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false, viewport: { width: 1440, height: 900 } })
  const page = await browser.context.newPage()
  await signIn(app, page, 'ada@example.com')
  const before = await written()
  const asked = await askedOn(t, page, app.url, Object.values(paths))
  for (const kind of [
    /filters\/\d+\/delete/,
    /sessions\/\d+\/end/,
    /everywhere/,
    /notes\/.*\/end/,
    /windows\/.*\/end/,
    /transfer/,
  ])
    t.true(
      [...asked].some((action) => kind.test(action)),
      `${kind} of ${[...asked].join()}`,
    )
  t.is(await written(), before, 'nothing is lost before it was said yes')
})

test.serial('without scripts several checks are deleted only after a page has said how many', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false, viewport: { width: 1440, height: 900 } })
  const page = await browser.context.newPage()
  await signIn(app, page, 'ada@example.com')
  await page.goto(app.url + paths.checks)
  const before = await written()
  const remove = async (names: readonly string[]) => {
    for (const name of names) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'Are you sure?' }).waitFor()
  }
  await remove(['Mail queue', 'Smoke test'])
  const question = (await page.getByText('cannot be undone').textContent()) ?? ''
  t.regex(question, /^Delete 2 checks with their logs: (Mail queue, Smoke test|Smoke test, Mail queue)\?/)
  await page.getByRole('link', { name: 'Cancel' }).click()
  t.is(await written(), before)
  t.is(new URL(page.url()).pathname, paths.checks, 'back where they were chosen')
  await remove(['Smoke test'])
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('1 check deleted').waitFor()
  await page.waitForLoadState()
  t.is(await page.getByRole('link', { name: 'Smoke test' }).count(), 0)
  t.is(await page.getByRole('link', { name: 'Mail queue' }).count(), 1)
})

test.serial(
  'without scripts the risk console asks before something of it is lost, and says where one is',
  async (t) => {
    await using it = await openRiskInstallation(['agents'])
    const base = new URL(it.base).pathname
    const owner = await signedIn(it.app, 'owner@example.com')
    const requested = await owner.post(`${base}/packs/new`, { requestKey: randomUUID(), ...packFields })
    const pack = requested.headers.location ?? ''
    await eventually('the pack', async () => (await owner.get(pack)).text.includes('Create a share link'))
    await owner.post(`${pack}/shares`, {}, pack)
    await owner.post(`${base}/clients`, { name: 'Loan system' }, `${base}/clients`)
    await owner.post(`${base}/agents`, { name: 'desk', scope: 'risk-signals:read' }, `${base}/agents`)
    const endpoint = await addEndpoint(it, 'SANDBOX', 'https://example.com/hook')
    const { db } = it.app.deps
    const held = async () => ({
      clients: await db('clients').whereNull('disabled_at').pluck('client_id'),
      keys: await db('agent_keys').whereNull('revoked_at').pluck('name'),
      families: await db('organisation_families').pluck('family'),
      endpoints: await db('webhook_endpoints').where({ state: 'ACTIVE' }).pluck('id'),
      shares: await db('pack_shares').whereNull('revoked_at').pluck('id'),
    })
    const before = await held()
    t.true(
      Object.values(before).every((rows) => rows.length > 0),
      JSON.stringify(before),
    )
    await using browser = await openBrowser({ javaScriptEnabled: false, viewport: { width: 1440, height: 900 } })
    const page = await browser.context.newPage()
    await signInAsOwner(it, page)
    const pages = [pack, `${base}/clients`, `${base}/agents`, `${base}/webhooks/${endpoint}`]
    const asked = [...(await askedOn(t, page, it.app.url, pages))].map((action) => action.split('/').at(-1))
    t.deepEqual(asked.toSorted(), ['delete', 'disable', 'revoke', 'revoke', 'revoke', 'revoke', 'rotate', 'rotate'])
    t.deepEqual(await held(), before, 'nothing is lost before it was said yes')
  },
)

const packFields = {
  buyerGstin: '27AAACB1234C1ZF',
  borrowerGstin: '29AAACR5678D1Z5',
  subcontractorGstin: '24AAFFS4321K1ZA',
  poValue: '1250000',
}
