import type { Page } from 'playwright-core'
import { runAdmin } from '../../../ingress/admin/run.ts'
import { userCommands } from '../../../ingress/admin/user.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'

export const password = 'four words nobody joins'

/** The whole product in this process: pages, pings, the sweeper and the notifier. */
export async function openInstallation(env: Readonly<Record<string, string>> = {}): Promise<HttpProduct> {
  return await openProduct({ listener: 'http', workers: ['ping-evaluator', 'sweeper', 'notifier'], env })
}

/** Runs a command of the operator. @returns what it printed */
async function admin(app: HttpProduct, ...args: string[]): Promise<string> {
  const { deps } = app
  const outcome = await runAdmin(args, userCommands, async () => ({
    config: deps.config,
    db: deps.db,
    secrets: deps.secrets,
    log: deps.log,
    actor: 'test',
    async [Symbol.asyncDispose]() {},
  }))
  if (outcome.status !== 0) throw new Error(outcome.stderr)
  return outcome.stdout.trim()
}

/** The address in what `setup-link` prints. */
async function setUpLink(app: HttpProduct): Promise<string> {
  const printed = await admin(app, 'setup-link')
  const [link] = /http\S+/.exec(printed) ?? []
  if (!link) throw new Error(`no link in ${JSON.stringify(printed)}`)
  return link
}

/** Opens the set-up link and becomes the first person. */
export async function setUp(app: HttpProduct, page: Page): Promise<void> {
  await page.goto(await setUpLink(app))
  await page.getByLabel('Your name').fill('Ada Owner')
  await page.getByLabel('E-mail address').fill('ada@example.com')
  await page.getByLabel('Password').fill(password)
  await page.getByLabel('Organisation').fill('Acme')
  await page.getByRole('button', { name: 'Create my account' }).click()
  await page.getByRole('heading', { name: 'Checks' }).waitFor()
}

export async function signIn(app: HttpProduct, page: Page, email: string): Promise<void> {
  await page.goto(`${app.url}/sign-in`)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'))
}
