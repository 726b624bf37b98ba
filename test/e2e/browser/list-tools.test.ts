import test from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import type { HttpProduct } from '../../support/product.ts'
import { type Account, addDemoAccount, sharedInstallation, signIn } from './installation.ts'

let app: HttpProduct
let account: Account
let list = ''

test.before(async () => {
  app = await sharedInstallation()
  account = await addDemoAccount(app)
  list = `${app.url}/projects/${account.project.uuid}/checks`
})

const checks = () => app.deps.db('checks').where({ project_id: account.project.id })
const savedFilters = () => app.deps.db('saved_filters').where({ project_id: account.project.id })

const rows = (page: Page) => page.locator('.checks tbody tr:not(.group)')

test.serial('filters show counts under the other filters, and one link clears them', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(`${list}?q=ledger`)
  t.regex((await page.locator('.found').textContent()) ?? '', /^4 of 60 checks/)
  t.is(await page.locator('.chips a').first().textContent(), 'All 4')
  const tags = await page.locator('.tags a small').allTextContents()
  t.true(tags.length > 0 && tags.every((count) => Number(count.split('/').at(-1)) <= 4), tags.join())
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.waitForURL((url) => url.search === '')
  t.is(await page.locator('.found').count(), 0)
})

test.serial('the search filters while the user types', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(list)
  await page.locator('html[data-watching]').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.insertText('ledger')
  await page.waitForURL((url) => url.searchParams.get('q') === 'ledger')
  t.is(await rows(page).count(), 4)
})

test.serial('a kind of integration is found by search, and a placeholder is inserted at the cursor', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const broken: string[] = []
  page.on('pageerror', (error) => broken.push(error.message))
  await signIn(account, page)
  await page.goto(list.replace(/checks$/, 'integrations/new'))
  await page.getByLabel('Search integrations').fill('resolves')
  const shown = page.locator('.catalogue li:visible')
  t.deepEqual(await shown.getByRole('link').allInnerTexts(), ['PagerDuty', 'PagerTree', 'Spike'])
  t.is(await page.locator('.catalogue-group:visible').count(), 1)
  await page.getByLabel('Search integrations').fill('')
  await page.getByRole('link', { name: 'Webhook', exact: true }).click()
  await page.getByLabel('Body for failures').fill('{"check": }')
  await page.getByLabel('Body for failures').evaluate((field: HTMLTextAreaElement) => field.setSelectionRange(10, 10))
  await page.getByRole('button', { name: '$NAME', exact: true }).click()
  t.is(await page.getByLabel('Body for failures').inputValue(), '{"check": $NAME}')
  await page.getByLabel('URL for failures').fill('https://x.example/?s=')
  await page.getByRole('button', { name: '$STATUS', exact: true }).click()
  t.is(await page.getByLabel('URL for failures').inputValue(), 'https://x.example/?s=$STATUS')
  t.deepEqual(broken, [])
})

test.serial('the method of a webhook is chosen by keyboard or pointer, and saved', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(list.replace(/checks$/, 'integrations/new/webhook'))
  const methods = page.getByRole('radiogroup', { name: 'Method for failures' })
  const chosen = () => methods.getByRole('radio', { checked: true }).evaluateAll((all) => all.map(({ id }) => id))
  await page.getByLabel('URL for failures').focus()
  await page.keyboard.press('Tab')
  t.deepEqual(await chosen(), ['option-method_down-'], 'what is left to itself')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  t.deepEqual(await chosen(), ['option-method_down-POST'])
  const label = methods.getByText('POST', { exact: true })
  t.not(await label.evaluate((one) => getComputedStyle(one).outlineStyle), 'none', 'the focus is seen')
  await methods.getByRole('radio', { name: 'PUT' }).click()
  t.deepEqual(await chosen(), ['option-method_down-PUT'])
  await page.getByLabel('Name', { exact: true }).fill('By PUT')
  await page.getByLabel('URL for failures').fill(`${app.url}/livez`)
  await page.getByRole('button', { name: 'Create integration' }).click()
  await page.getByText('The integration is created').waitFor()
  const options = (await page.getByRole('region', { name: 'Options' }).textContent()) ?? ''
  t.regex(options, /Method for failuresPUT/)
  t.notRegex(options, /recoveries/)
  await Promise.all([page.waitForEvent('load'), page.getByRole('link', { name: 'Edit' }).click()])
  t.deepEqual(await chosen(), ['option-method_down-PUT'])
  t.true(await page.locator('#option-method_up-').isChecked(), 'no method was chosen for recoveries')
  t.false(await page.locator('details.more').evaluate((part: HTMLDetailsElement) => part.open))
})

test.serial('checks are grouped by their first tag, each once', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(`${list}?sort=tag`)
  const groups = await page.locator('.checks .group th').allTextContents()
  t.true(groups.length >= 2, groups.join())
  t.is(new Set(groups).size, groups.length, 'a group has one heading')
  const shown = await rows(page).count()
  await page.getByRole('link', { name: 'Next page' }).click()
  await page.getByText(`${shown + 1}–60 of 60`).waitFor()
  t.is(shown + (await rows(page).count()), 60)
})

test.serial('a saved filter belongs to one user and can be deleted', async (t) => {
  await using browser = await openBrowser({ javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(`${list}?status=down&tag=prod`)
  await page.getByText('Saved filters').click()
  await page.getByLabel('Name for this filter').fill('Burning')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved as “Burning”').waitFor()
  await page.goto(list)
  await page.getByText('Saved filters').click()
  await page.getByRole('link', { name: 'Burning' }).click()
  t.is(new URL(page.url()).search, '?status=down&tag=prod')
  t.deepEqual(await savedFilters().pluck('user_id'), [account.userId])
  await page.getByText('Saved filters').click()
  await page.getByRole('button', { name: 'Forget the filter Burning' }).click()
  await page.getByText('Forget the filter “Burning”?').waitFor()
  await page.getByRole('button', { name: 'Forget', exact: true }).click()
  await page.getByText('The filter is forgotten.').waitFor()
  t.is(new URL(page.url()).search, '?status=down&tag=prod', 'where one was')
  t.is((await savedFilters()).length, 0)
})

test.serial('a change of several checks is confirmed with their number, and can be undone', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(`${list}?q=ledger`)
  const tagged = () => checks().whereLike('tags', '%month-end%')
  await page.getByRole('checkbox', { name: 'Select all of this page' }).check()
  await page.getByLabel('Tag to add').fill('month-end')
  await page.getByRole('button', { name: 'Add tag' }).click()
  await page.getByText('4 checks tagged.').waitFor()
  t.is((await tagged()).length, 4)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('4 checks untagged.').waitFor()
  t.is((await tagged()).length, 0)

  await rows(page)
    .first()
    .getByRole('link', { name: /^More of / })
    .click()
  await page.getByRole('button', { name: /^Pause / }).click()
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
  await page.locator('.toast', { hasText: '1 check resumed.' }).waitFor()
  t.is((await checks().whereILike('name', '%ledger%').where({ status: 'paused' })).length, 0)
})

test.serial('a refresh between a form and its redirect does not use up the message', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(`${list}?q=ledger`)
  await page.locator('html[data-watching]').waitFor()
  const { uuid } = await checks().whereILike('name', '%ledger%').first('uuid')
  await page.route('**/*', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    const response = await route.fetch({ maxRedirects: 0 })
    const refreshed = page.waitForResponse(
      (answer) => answer.url() === page.url() && answer.request().method() === 'GET',
    )
    await fetch(`${app.url}/ping/${uuid}`)
    await (await refreshed).finished()
    // The cookie of the response is already stored.
    await route.fulfill({ status: 303, headers: { location: response.headers().location ?? '' } })
  })
  await page.getByRole('checkbox', { name: 'Select all of this page' }).check()
  await page.getByLabel('Tag to add').fill('refreshed')
  await page.getByRole('button', { name: 'Add tag' }).click()
  await page.getByText('4 checks tagged.').waitFor()
  t.is((await checks().whereLike('tags', '%refreshed%')).length, 4)
})

test.serial('the wall shows every check without links, failed checks first and largest', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1920, height: 1080 } })
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(`${list}?wall=1`)
  t.is(await page.locator('.wall-tile').count(), 60)
  const looks = await page.locator('.wall-tile').evaluateAll((tiles) => tiles.map(({ className }) => className))
  t.true(looks[0]?.includes('is-down'))
  t.is(await page.locator('a:visible, button:visible, input:visible').count(), 0)
  await page.locator('html[data-watching]').waitFor()
  const { uuid } = await checks().where({ status: 'up' }).orderBy('name').first('uuid', 'id')
  const down = async () => Number(await page.locator('.wall-head .is-down b').textContent())
  const before = await down()
  await fetch(`${app.url}/ping/${uuid}/fail`)
  await page.waitForFunction(
    (wanted) => document.querySelector('.wall-head .is-down b')?.textContent === String(wanted),
    before + 1,
  )
  t.is(await down(), before + 1)
})

test.serial('on a phone a check takes two lines, and the navigation is behind one button', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 360, height: 740 }, javaScriptEnabled: false })
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(list)
  const boxes = await rows(page).all()
  t.is((await boxes[0]?.boundingBox())?.height, 64)
  const header = await page.locator('.side').boundingBox()
  t.true((header?.height ?? 999) <= 56, `${header?.height}`)
  const [search, order] = [await page.locator('#q').boundingBox(), await page.locator('#sort').boundingBox()]
  t.is(search?.y, order?.y, 'search and order share a line')
  t.false(await page.getByRole('link', { name: 'Audit log' }).isVisible())
  await page.getByRole('checkbox', { name: 'Show the navigation' }).check()
  t.true(await page.getByRole('link', { name: 'Audit log' }).isVisible())
})

test.serial('the list loads less than 150 kB at first, then less than 20 kB, only from this host', async (t) => {
  await using browser = await openBrowser({ viewport: { width: 1440, height: 900 } })
  const page = await browser.context.newPage()
  await signIn(account, page)
  const network = await browser.context.newCDPSession(page)
  await network.send('Network.enable')
  await network.send('Network.clearBrowserCache')
  let bytes = 0
  const hosts = new Set<string>()
  network.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  network.on('Network.requestWillBeSent', ({ request }) => hosts.add(new URL(request.url).host))
  await page.goto(list, { waitUntil: 'load' })
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  const first = bytes
  t.true(first > 50_000, 'fonts are in it')
  t.true(first < 150_000, `${first} bytes`)
  bytes = 0
  await page.goto(`${list}?sort=name`, { waitUntil: 'load' })
  await page.goto(list, { waitUntil: 'load' })
  t.true(bytes / 2 < 20_000, `${bytes / 2} bytes`)
  t.deepEqual(
    [...hosts].filter((host) => host !== '' && host !== new URL(app.url).host),
    [],
  )
})

test.serial('every component is shown in both themes, in development only', async (t) => {
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await page.goto(`${app.url}/design`)
  const grounds = await page
    .locator('.design-theme')
    .evaluateAll((themes) => themes.map((theme) => getComputedStyle(theme).backgroundColor))
  t.is(new Set(grounds).size, 2)
  const { base } = await app.ingress(undefined, { NODE_ENV: 'production', PORT: '0' })
  t.is((await fetch(`${base}/design`)).status, 404)
})
