import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import test from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import type { HttpProduct } from '../../support/product.ts'
import { furnish } from './furnished.ts'
import { openInstallation, setUp, signIn } from './installation.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let app: HttpProduct
let paths: Record<string, string>

test.before(async () => {
  app = await openInstallation()
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await setUp(app, page)
  paths = await furnish(app)
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
})

/** What axe finds that matters: serious and critical, with where. */
async function findings(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which our policy against inline scripts does not concern.
  await page.evaluate(axeSource)
  return await page.evaluate(async () => {
    // axe is loaded just above; its types are for modules, not for pages
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> }
    }
    const { violations } = await axe.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
  })
}

for (const look of [
  { width: 1440, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
] as const)
  test.serial(`every page is accessible, ${look.colorScheme} and ${look.width} px wide`, async (t) => {
    await using browser = await openBrowser({
      viewport: { width: look.width, height: 800 },
      colorScheme: look.colorScheme,
      reducedMotion: 'reduce',
    })
    const page = await browser.context.newPage()
    const problems: string[] = []
    const check = async (name: string, path: string) => {
      await page.goto(app.url + path)
      for (const finding of await findings(page)) problems.push(`${name}: ${finding}`)
      const excess = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      if (excess > 0) problems.push(`${name} is ${excess} px wider than the window`)
    }
    for (const name of ['/sign-in', '/reset-password', '/no-such-page']) await check(name, name)
    await check('status page', paths.status ?? '')
    await signIn(app, page, 'ada@example.com')
    for (const [name, path] of Object.entries(paths)) await check(name, path)
    t.deepEqual(problems, [])
  })

test.serial('without scripts everything can still be read, and a check be created', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(app, page, 'ada@example.com')
  await page.goto(app.url + paths.checks)
  t.true(await page.getByRole('link', { name: 'Nightly backup' }).isVisible())
  await page.getByRole('link', { name: 'Add check' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Scriptless')
  await page.getByRole('button', { name: 'Create check' }).click()
  t.true(await page.getByText('Waiting for its first ping').isVisible())
  t.is(await page.locator('button.copy:visible').count(), 0, 'what needs scripts is not offered')
})

test.serial('a check is created with the keyboard alone', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(app, page, 'ada@example.com')
  await page.goto(app.url + paths.checks)
  await page.keyboard.press('Tab')
  t.is(await page.evaluate(() => document.activeElement?.textContent?.trim()), 'Skip to the content')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  t.is(await page.evaluate(() => document.activeElement?.textContent?.trim()), 'Add check')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Add check' }).waitFor()
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(() => document.activeElement?.id === 'name')) break
  }
  await page.keyboard.type('By keyboard')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'By keyboard' }).waitFor()
  t.pass()
})
