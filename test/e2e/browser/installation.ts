import test from 'ava'
import type { Page } from 'playwright-core'
import { insertDemo } from '#shared/monitoring/pages/demo-store.ts'
import { insertProject, type Project } from '#shared/monitoring/projects/store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { hashPassword } from '#shared/tenancy/accounts/password.ts'
import { insertMembership, insertUser } from '#shared/tenancy/accounts/store.ts'
import { insertOrganisation } from '#shared/tenancy/organisations/store.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import { userCommands } from '../../../ingress/admin/user.ts'
import { SESSION_COOKIE, startSession } from '../../ingress/web/people.ts'
import { createVisitor, type Visitor } from '../../ingress/web/visitor.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'

export const password = 'four words rarely joined'

const opened = new AsyncDisposableStack()
test.after.always('closes the products that browser tests share', () => opened.disposeAsync())

/** Returns a function that calls `make` once and then returns the same result. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

/** Opens a resource on first use for all test files of this process. It closes after the last test. */
export function shared<T extends AsyncDisposable>(open: () => Promise<T>): () => Promise<T> {
  return once(async () => opened.use(await open()))
}

/** A product without accounts: pages, pings, the sweeper and the notifier in this process. */
export async function openInstallation(): Promise<HttpProduct> {
  return await openProduct({ listener: 'http', workers: ['ping-evaluator', 'sweeper', 'notifier'] })
}

/** The product that monitoring tests share. Each test file adds an account. */
export const sharedInstallation = shared(openInstallation)

/** The owner of an organisation with one project. */
export interface Account {
  app: HttpProduct
  userId: number
  email: string
  organisation: { id: number; uuid: string }
  project: Project
}

const passwordHash = once(() => hashPassword(password))
let accounts = 0

/** Adds the owner of a new organisation with an empty project. */
export async function addAccount(app: HttpProduct): Promise<Account> {
  const hash = await passwordHash()
  return await app.deps.db.transaction(async (tx) => {
    const organisation = await insertOrganisation(tx, 'Acme')
    const project = await insertProject(tx, { organisationId: organisation.id, name: 'My project' })
    const email = `ada-${++accounts}@example.com`
    const user = await insertUser(tx, { email, name: 'Ada Owner', passwordHash: hash })
    if (!user) throw new Error(`${email} exists already`)
    await insertMembership(tx, { organisationId: organisation.id, userId: user.id, role: 'owner' })
    return { app, userId: user.id, email, organisation, project }
  })
}

/**
 * Signs an account in without the sign-in page, which costs a page load and a password hash.
 * @param url the origin that gets the session cookie
 */
export async function signIn(account: Account, page: Page, url = account.app.url): Promise<void> {
  const value = await startSession(account)
  await page.context().addCookies([{ name: SESSION_COOKIE, value, url, httpOnly: true, sameSite: 'Lax' }])
}

/** Returns an HTTP client in which an account is signed in, for set-ups that need no browser. */
export async function visitorOf(account: Account): Promise<Visitor> {
  const visitor = createVisitor(account.app.url)
  visitor.cookies.set(SESSION_COOKIE, await startSession(account))
  return visitor
}

/** Invites a person to the organisation of an account, on behalf of that account. */
export async function invite(account: Account, email: string): Promise<void> {
  const people = `/organisations/${account.organisation.uuid}`
  const visitor = await visitorOf(account)
  const { status } = await visitor.post(`${people}/invitations`, { email, role: 'member' }, `${people}/members`)
  if (status !== 303) throw new Error(`the invitation of ${email} was answered with ${status}`)
}

/** Signs an account in on the sign-in page. */
export async function signInByForm({ app, email }: Account, page: Page): Promise<void> {
  await page.goto(`${app.url}/sign-in`)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'))
}

/** Adds an account whose project holds the sixty checks of the demo. Some of them go down within minutes. */
export async function addDemoAccount(app: HttpProduct): Promise<Account> {
  const account = await addAccount(app)
  const { secrets, config } = app.deps
  const deps = { secrets, logLimit: config.pingLogLimit }
  await transaction(app.deps.db, (tx) => insertDemo(tx, account.project.id, deps))
  return account
}

/** Returns the link that `admin setup-link` prints. */
async function setUpLink({ deps }: HttpProduct): Promise<string> {
  const outcome = await runAdmin(['setup-link'], userCommands, async () => ({
    config: deps.config,
    db: deps.db,
    secrets: deps.secrets,
    log: deps.log,
    actor: 'test',
    async [Symbol.asyncDispose]() {},
  }))
  const [link] = /http\S+/.exec(outcome.stdout) ?? []
  if (!link) throw new Error(`admin setup-link printed no link: ${JSON.stringify(outcome)}`)
  return link
}

/** Creates the first account of an installation through the set-up link. */
export async function setUp(app: HttpProduct, page: Page): Promise<void> {
  await page.goto(await setUpLink(app))
  await page.getByLabel('Your name').fill('Ada Owner')
  await page.getByLabel('E-mail address').fill('ada@example.com')
  await page.getByLabel('Password').fill(password)
  await page.getByLabel('Organisation').fill('Acme')
  await page.getByRole('button', { name: 'Create my account' }).click()
  await page.getByRole('heading', { name: 'Checks' }).waitFor()
}
