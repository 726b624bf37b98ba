import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpSink, openHttpSink } from '../../support/http-sink.ts'
import { addMethod, addPerson } from '../../support/personal.ts'
import { addKey } from '../../support/projects.ts'
import { type Account, addAccount, sharedInstallation, signIn } from './installation.ts'

const DAY_MS = 86_400_000

/** Returns 40 checks as the API of Healthchecks describes them. */
function someChecks() {
  const common = { slug: '', tags: 'prod', grace: 3600, status: 'up', channels: '' }
  const jobs = Array.from({ length: 39 }, (_, n) => ({ name: `Job ${n + 1}`, timeout: 86_400 }))
  const nightly = { name: 'Nightly backup', schedule: '0 3 * * *', tz: 'Europe/Berlin' }
  return [...jobs, nightly].map((job) => ({ uuid: randomUUID(), ...common, ...job }))
}

/** Returns the date of the day before yesterday: a weekly shift that starts on it at 09:00 contains this instant. */
function startDate(): string {
  return new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10)
}

/** Returns the next end of summer time in Berlin: the last Sunday of October, 01:00 UTC. */
function nextClockChange(): Date {
  const year = new Date().getUTCFullYear()
  const changes = [year, year + 1].map((each) => {
    const last = new Date(Date.UTC(each, 9, 31, 1))
    return new Date(last.getTime() - last.getUTCDay() * DAY_MS)
  })
  return changes.find((change) => change.getTime() > Date.now()) ?? new Date(0)
}

const berlin = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' })

interface Shift {
  from: string
  until: string
  person: { address: string; name: string }
}

/** Moves the checks in on the page. */
async function moveIn(page: Page, base: string, source: HttpSink): Promise<void> {
  await page.goto(`${base}/move-in`)
  const form = page.getByRole('region', { name: 'From Healthchecks' })
  await form.getByLabel('Address of its pages').fill(source.url)
  await form.getByLabel('Read-write API key').fill('k'.repeat(32))
  await form.getByRole('button', { name: 'Show the plan' }).click()
  await page.getByText('Checks: 40 new, 0 changed').waitFor()
  await page.getByRole('button', { name: 'Import' }).click()
  await page.getByText('Imported: 40 checks created').waitFor()
  await page.getByRole('button', { name: 'Start watching' }).click()
  await page.getByText('Watching 40 checks').waitFor()
}

/** Adds and verifies a contact method on the pages of the person. */
async function addPhone({ app }: Account, page: Page, push: HttpSink): Promise<void> {
  await page.goto(`${app.url}/account/notifications`)
  await page.getByRole('link', { name: 'Gotify' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Phone')
  await page.locator('[name=option-url]').fill(push.url)
  await page.locator('[name=option-token]').fill('ada')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByRole('button', { name: 'Send code' }).click()
  const [code = ''] = /\b\d{6}\b/.exec((await push.waitFor(1)).body.toString()) ?? []
  await page.getByLabel('Code of six digits').fill(code)
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText('Verified', { exact: true }).waitFor()
}

async function addSchedule(page: Page, base: string, people: readonly string[]): Promise<void> {
  await page.goto(`${base}/on-call`)
  await page.getByRole('link', { name: 'Add schedule' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Primary')
  await page.getByLabel('Time zone').fill('Europe/Berlin')
  await page.getByRole('button', { name: /^Remove: .*, turn 1$/ }).click()
  for (const [index, person] of people.entries()) {
    await page.getByLabel('Add a person').selectOption(person)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: new RegExp(`^Remove: .*, turn ${index + 1}$`) }).waitFor()
  }
  await page.getByLabel('Hand over each').selectOption('week')
  await page.getByLabel('First handoff').fill(`${startDate()}T09:00`)
  await page.getByRole('button', { name: 'Create schedule' }).click()
  await page.getByRole('heading', { name: 'Shifts' }).waitFor()
}

/** Notifies the person on call at once, and the team's room after 15 minutes. */
async function addPolicy(page: Page, base: string): Promise<void> {
  await page.goto(`${base}/policies/new`)
  await page.getByLabel('Name', { exact: true }).fill('On call')
  await page.getByLabel('Tags').fill('*')
  const [first, second] = [page.locator('#step-1'), page.locator('#step-2')]
  await first.getByLabel('No integrations', { exact: true }).check()
  await first.getByLabel('Team room').waitFor({ state: 'hidden' })
  await first.getByLabel('Primary').check()
  await page.getByRole('button', { name: 'Add a step' }).click()
  await second.getByLabel('Wait before step 2', { exact: true }).fill('15')
  await second.getByLabel('Selected integrations', { exact: true }).check()
  await second.getByLabel('Team room').check()
  await page.getByRole('button', { name: 'Create policy' }).click()
  await page.waitForURL(({ pathname }) => !pathname.endsWith('/new'))
}

/** Publishes the status page; the outage is on it and on the wall. */
async function findOutage(page: Page, visitor: Page, base: string): Promise<void> {
  await page.goto(`${base}/status-page`)
  await page.getByLabel('Show that an outage is being worked on').check()
  await page.getByRole('button', { name: 'Publish' }).click()
  const address = (await page.getByText(/\/status\/[\w-]{22}$/).textContent()) ?? ''
  await visitor.goto(address)
  await visitor.locator('.public-check', { hasText: /Nightly backup.*Down - being worked on/ }).waitFor()
  await page.goto(`${base}/checks?wall=1`)
  await page.locator('.wall-tile.is-down', { hasText: 'Nightly backup' }).waitFor()
}

/** Asserts handoffs at 09:00 in Berlin, before and after the clock change, in the order of the team. */
function assertHandoffs(t: ExecutionContext, shifts: readonly Shift[], team: readonly string[]): void {
  const starts = shifts.map(({ from }) => from)
  t.deepEqual(new Set(starts.map((from) => berlin.format(new Date(from)))), new Set(['09:00']))
  t.deepEqual(new Set(starts.map((from) => from.slice(11, 16))), new Set(['07:00', '08:00']), 'in UTC')
  const people = shifts.map(({ person }) => person.address)
  const first = team.indexOf(people[0] ?? '')
  t.deepEqual(
    people,
    people.map((_, index) => team[(first + index) % team.length]),
  )
}

/** Returns the events of a calendar as start and summary. */
function eventsOf(calendar: string): string[] {
  return [...calendar.matchAll(/DTSTART:(\S+)\r\n.*?SUMMARY:([^\r]*)/gs)].map(([, start, what]) => `${start} ${what}`)
}

test.serial('a team moves in, rotates weekly, and one press on the phone ends the escalation of a night', async (t) => {
  const checks = someChecks()
  await using source = await openHttpSink()
  source.respond = ({ path }) => ({
    body: JSON.stringify(path.endsWith('/checks/') ? { checks } : { channels: [], badges: {} }),
  })
  await using push = await openHttpSink()
  await using room = await openHttpSink()
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const account = await addAccount(await sharedInstallation())
  const { app, project, organisation, email } = account
  const base = `${app.url}/projects/${project.uuid}`
  const headers = { 'X-Api-Key': await addKey(app.deps, project.id, 'rw') }
  const api = async (path: string, body?: object) => {
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
    return await (await fetch(`${app.url}/api/v3/${path}`, { headers, ...init })).json()
  }
  await signIn(account, page)
  await moveIn(page, base, source)

  const [ben, carl] = [
    await addPerson(app.deps, organisation.id, 'Ben'),
    await addPerson(app.deps, organisation.id, 'Carl'),
  ]
  for (const { id } of [ben, carl]) await addMethod(app.deps, id, 'gotify', { url: push.url, token: `other${id}` })
  await addPhone(account, page, push)
  const team = [email, ben.email, carl.email]
  await addSchedule(page, base, team)
  const schedule = new URL(page.url()).pathname.split('/').at(-1)
  const shiftsOf = async (from: number, days: number): Promise<Shift[]> => {
    const span = `from=${from / 1000}&until=${from / 1000 + days * 86_400}`
    return (await api(`on-call/schedules/${schedule}/shifts?${span}`)).shifts
  }
  const around = await shiftsOf(nextClockChange().getTime() - 21 * DAY_MS, 42)
  assertHandoffs(t, around.slice(1), team)

  await api('channels/', { kind: 'slack', name: 'Team room', config: { url: room.url } })
  await addPolicy(page, base)
  const ping = async (end: string, body = '') =>
    t.is((await fetch(`${app.url}/ping/${checks.at(-1)?.uuid}${end}`, { method: 'POST', body })).status, 200)
  await ping('/start')
  await ping('/2', 'pg_dump: No space left on device')
  const message = await push.waitFor(({ body }) => /DOWN/.test(body.toString()))
  t.is(message.query.get('token'), 'ada')
  const link = JSON.parse(message.body.toString()).extras['client::notification'].click.url

  await using phone = await openBrowser({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } })
  const visitor = await phone.context.newPage()
  await visitor.goto(link)
  await visitor.getByText('Ada Owner', { exact: true }).waitFor()
  await visitor.getByRole('button', { name: 'Acknowledge' }).click()
  await visitor.getByText(/^by Ada Owner \(Gotify\)/).waitFor()
  const incidents = () => app.db('incidents').where({ project_id: project.id })
  const [incident, ...others] = await incidents()
  t.deepEqual([incident.state, others], ['acknowledged', []])
  await incidents().update({ alert_at: app.db.raw("alert_at - interval '1 hour'"), next_at: app.db.raw('now()') })
  await eventually('an evaluation after the time of step 2', () =>
    incidents().andWhere('next_at', '>', app.db.raw('now()')).first(),
  )
  t.is(room.requests.length, 0)
  const decided = app.db('alert_decisions').where({ check_id: incident.check_id, outcome: 'notified' })
  t.is((await decided).length, 1)

  await findOutage(page, visitor, base)

  await page.goto(`${base}/on-call/${schedule}`)
  await page.getByLabel('Name of the calendar').fill('Office')
  await page.getByRole('button', { name: 'Create calendar address' }).click()
  const calendar = await page.locator('.secret-once').getByText('/cal/').textContent()
  const events = eventsOf(await (await fetch(calendar ?? '')).text())
  const [current, ...coming] = await shiftsOf(Math.floor(Date.now() / 1000) * 1000, 90)
  t.is(current?.person.address, email)
  t.is((await api('on-call/')).on_call[0].person.address, email)
  t.regex(events[0] ?? '', / Ada Owner: Primary$/)
  t.deepEqual(
    events.slice(1, 1 + coming.length),
    coming.map(({ from, person }) => `${from.slice(0, 19).replaceAll(/[-:]/g, '')}Z ${person.name}: Primary`),
  )

  // The recovery waits for the end of the window after the first message.
  await app
    .db('contact_methods')
    .where({ user_id: account.userId })
    .update({ notified_at: new Date(0) })
  await ping('')
  await push.waitFor(({ body }) => /UP/.test(body.toString()))
  await eventually('the recovery to be recorded', async () => (await incidents())[0].state === 'resolved')
  await page.goto(`${app.url}/incidents/${incident.id}`)
  for (const text of [
    /Down: a failure was reported/,
    /Notified Ada Owner \(Gotify, step 1, Primary\): delivered/,
    /Acknowledged by Ada Owner \(Gotify\)/,
    /Notified Ada Owner \(Gotify\b.*of the recovery/,
    /Resolved/,
  ])
    await page.locator('.timeline li', { hasText: text }).first().waitFor()
  t.is(await page.locator('.timeline', { hasText: 'Team room' }).count(), 0)
})
