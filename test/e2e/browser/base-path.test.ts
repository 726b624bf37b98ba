import test from 'ava'
import type { Page } from 'playwright-core'
import { stateDays } from '#shared/monitoring/operations/uptime.ts'
import { FAMILIES } from '#shared/tenancy/oauth/families.ts'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { openPrefixProxy, type PrefixProxy } from '../../support/prefix-proxy.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck, addKey } from '../../support/projects.ts'
import { addOldCheck, micros, october, since } from '../../workers/sweeper/stated.ts'
import { addAuthenticator } from './authenticator.ts'
import { type Account, addAccount, password, signInByForm } from './installation.ts'
import { requestPack } from './risk-installation.ts'

const resources = new AsyncDisposableStack()
let proxy: PrefixProxy
let app: HttpProduct

test.before(async () => {
  // Passkeys need a domain name.
  proxy = resources.use(await openPrefixProxy('/hc', 'localhost'))
  const workers = ['ping-evaluator', 'pack-composer', 'anchor', 'sweeper']
  app = resources.use(await openProduct({ listener: 'http', workers, env: { PUBLIC_URL: proxy.url } }))
  proxy.target = app.port
})
test.after.always(() => resources.disposeAsync())

/** The owner of an organisation, whose pages the browser reads through the proxy. */
async function addVisitor(): Promise<Account> {
  const account = await addAccount(app)
  await grantFamilies(app.deps.db, account.organisation.id, FAMILIES)
  return { ...account, app: { ...app, url: proxy.url } }
}

/** Collects failed requests and errors of scripts. */
function watch(page: Page): string[] {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('response', (answer) => {
    if (answer.status() >= 400) problems.push(`${answer.status()} ${answer.url()}`)
  })
  return problems
}

for (const [what, isStripping] of [
  ['keeps', false],
  ['removes', true],
] as const) {
  const mode = `behind a proxy that ${what} the path`

  test.serial(`${mode} sign-in, live updates and schedule explanations work`, async (t) => {
    proxy.isStripping = isStripping
    const account = await addVisitor()
    const { uuid } = await addCheck(app.deps, account.project.id, { name: 'Nightly job' })
    await using browser = await openBrowser()
    const page = await browser.context.newPage()
    const problems = watch(page)
    await signInByForm(account, page)
    t.true(page.url().startsWith(`${proxy.url}/projects/`), page.url())
    await page.locator('html[data-watching=yes]').waitFor()
    await page.getByRole('row', { name: /Nightly job/ }).waitFor()
    await fetch(`${proxy.url}/ping/${uuid}`)
    await page.locator('.c-state').getByText(/^Up/).waitFor()

    await page.getByRole('link', { name: 'Add check' }).click()
    await page.waitForURL('**/checks/new')
    await page.getByLabel('Name', { exact: true }).fill('Other')
    const preview = page.waitForResponse((answer) => answer.url().startsWith(`${proxy.url}/schedule-preview?`))
    await page.locator('[name=timeout]').fill('15')
    t.is((await preview).status(), 200)
    await page.getByRole('button', { name: 'Create check' }).click()
    await page.getByRole('heading', { name: 'Other' }).waitFor()
    t.not(await page.evaluate(async () => (await document.fonts.load('16px "Inter Variable"')).length), 0)
    t.deepEqual(problems, [])
    t.deepEqual(proxy.outside, [])
  })

  test.serial(`${mode} a passkey signs in`, async (t) => {
    proxy.isStripping = isStripping
    const account = await addVisitor()
    await using browser = await openBrowser()
    const page = await browser.context.newPage()
    await signInByForm(account, page)
    await addAuthenticator(page)
    await page.goto(`${proxy.url}/account/second-factor`)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByLabel('Name of the new passkey').fill('Laptop')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('The passkey “Laptop” is added').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out').waitFor()
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('heading', { name: 'Checks' }).waitFor()
    t.true(page.url().startsWith(`${proxy.url}/projects/`), page.url())
  })

  test.serial(`${mode} a pack and the proof of an uptime are verified in the browser`, async (t) => {
    proxy.isStripping = isStripping
    const account = await addVisitor()
    await using browser = await openBrowser()
    const page = await browser.context.newPage()
    await signInByForm(account, page)
    const base = `${proxy.url}/organisations/${account.organisation.uuid}/risk/sandbox`
    await requestPack({ ...account, base }, page)
    await page.getByRole('link', { name: /Check this pack/ }).click()
    await page.getByRole('heading', { name: 'In the log. Now check your file' }).waitFor()

    const check = await addOldCheck(app, account.project.id, 'Web')
    await since(app, account.project.id, october(2))
    await stateDays(app.db, micros(october(4)))
    const file = `${proxy.url}/api/v3/checks/${check.uuid}/uptime-proof?from=2025-10-02&until=2025-10-02`
    const headers = { 'X-Api-Key': await addKey(app.deps, account.project.id, 'rw') }
    const proof = await eventually('a checkpoint to cover the statements', async () => {
      const text = await (await fetch(file, { headers })).text()
      const { proofs } = JSON.parse(text)
      return proofs.length > 0 && proofs.every(({ index }: { index: number | null }) => index !== null)
        ? text
        : undefined
    })
    await page.goto(`${proxy.url}/verify`)
    await page.getByLabel('or paste the JSON').fill(proof)
    await page.getByRole('button', { name: 'Verify' }).click()
    const report = page.locator('[data-report]')
    await report.getByRole('heading').waitFor()
    t.regex(await report.innerText(), /^Verified\n/)
    t.deepEqual(proxy.outside, [])
  })
}
