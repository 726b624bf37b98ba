import test from 'ava'
import { insertProject } from '#shared/monitoring/projects/store.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
let list: string

test.before(async () => {
  app = await sharedProduct()
})
/** Creates a project with an owner for each test. */
async function setUp(): Promise<void> {
  team = await createTeam(app, 'Team')
  owner = await join(app, team, 'owner')
  list = `/projects/${team.project.uuid}/checks`
}

const row = async (uuid: string) => await app.deps.db('checks').where({ uuid }).first()

test.serial('bulk actions change only selected checks of the project', async (t) => {
  await setUp()
  const [one, two] = [await addCheck(owner, team), await addCheck(owner, team)]
  const elsewhere = await createTeam(app, 'Elsewhere')
  const stranger = await join(app, elsewhere, 'owner')
  const foreign = await addCheck(stranger, elsewhere)
  const token = await owner.token(list)
  const send = (verb: string, more = '') =>
    owner.send(`${list}/bulk`, Object.fromEntries(new URLSearchParams(`_csrf=${token}&do=${verb}${more}&check=${one}`)))
  t.is((await send('pause')).status, 303)
  t.is((await row(one))?.status, 'paused')
  t.is((await row(two))?.status, 'new')
  await send('resume')
  t.is((await row(one))?.status, 'new')
  await send('tag', '&tag=night shift')
  t.is((await row(one))?.tags, 'night-shift')
  await owner.send(`${list}/bulk`, { _csrf: token, do: 'delete', check: foreign, _confirmed: 'yes' })
  t.truthy(await row(foreign))
  const requested = await send('delete')
  t.is(requested.status, 200)
  t.regex(requested.text, /Delete 1 check with their logs/)
  t.truthy(await row(one), 'nothing is deleted before the confirmation')
  await send('delete', '&_confirmed=yes')
  t.is(await row(one), undefined)
})

test.serial('uptime starts at the first ping and is a dash before it', async (t) => {
  await setUp()
  const uuid = await addCheck(owner, team)
  const shown = async () => {
    const { text } = await owner.get(`/checks/${uuid}`)
    const figure = /<dt>Uptime, 90 days<\/dt><dd>(.*?)<\/dd>/.exec(text)?.[1]
    const months = [...(/id="downtime"[\s\S]*?<\/table>/.exec(text)?.[0] ?? '').matchAll(/<td>(.*?)<\/td>/g)]
    return { figure, months: months.map(([, cell]) => cell), text }
  }
  const before = await shown()
  t.is(before.figure, '–', 'a check without a ping has no uptime')
  t.deepEqual(new Set(before.months), new Set(['–']))

  // 28 minutes old, with an outage of 10.25 minutes.
  const check = await row(uuid)
  const begun = Date.now()
  const ago = (seconds: number) => new Date(begun - seconds * 1000)
  const flip = (seconds: number, from_status: string, to_status: string) => ({
    ...{ check_id: check?.id, at: ago(seconds), from_status, to_status, processed_at: new Date() },
    ...(to_status === 'down' && { reason: 'fail' }),
  })
  await app.deps.db('flips').insert([flip(1680, 'new', 'up'), flip(900, 'up', 'down'), flip(285, 'down', 'up')])
  await app.deps
    .db('checks')
    .where({ uuid })
    .update({ created_at: ago(86_400), status: 'up', n_pings: 3, last_ping: ago(285) })
  const known = await shown()
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(ago(1680))
  const up = Number(new RegExp(`^([\\d.]+) %<small>since ${day}</small>$`).exec(known.figure ?? '')?.[1])
  // The page is rendered after the flips. Downtime is in whole seconds per day, so midnight may cost one second.
  const seconds = 1681 + (Date.now() - begun) / 1000
  t.true(up >= 63.38 && up <= 100 - 61_400 / seconds, `615 of 1680 seconds were down: ${up}`)
  const month = new RegExp(`<small>since ${day}</small></th><td>([\\d.]+) %</td>`).exec(known.text)?.[1]
  t.true(Math.abs(Number(month) - up) < 0.1, month)
})

test.serial('a copy has the same settings, but another uuid and slug', async (t) => {
  await setUp()
  const uuid = await addCheck(owner, team, { name: 'Backup', slug: 'backup', tags: 'prod', failure_kw: 'ERROR' })
  const answer = await owner.post(`/checks/${uuid}/copy`, {}, '/account')
  const copied = await row(/[0-9a-f-]{36}/.exec(answer.headers.location ?? '')?.[0] ?? '')
  t.like(copied, { name: 'Backup (copy)', slug: 'backup-copy', tags: 'prod', failure_kw: 'ERROR', status: 'new' })
  t.not(copied?.uuid, uuid)
})

test.serial('a moved check keeps its uuid and log, not its integrations', async (t) => {
  await setUp()
  const uuid = await addCheck(owner, team)
  const { id } = await insertProject(app.deps.db, { organisationId: team.organisationId, name: 'Second' })
  const target = await app.deps.db('projects').where({ id }).first('uuid')
  await fetch(`${app.url}/ping/${uuid}`)
  await eventually('the ping', async () => (await row(uuid))?.n_pings === 1)
  const answer = await owner.post(`/checks/${uuid}/transfer`, { project: String(target?.uuid) }, '/account')
  t.is(answer.status, 303)
  t.is((await row(uuid))?.project_id, id)
  t.is(await (await fetch(`${app.url}/ping/${uuid}`)).text(), 'OK')
  t.true((await owner.get(`/checks/${uuid}`)).text.includes('#1 OK'))
})

test.serial('a long list has pages that contain each check once, in order', async (t) => {
  await setUp()
  await app.deps.db.raw(
    `INSERT INTO checks (project_id, name, tags) SELECT ?, 'check ' || lpad(i::text, 3, '0'), CASE WHEN i % 2 = 0 THEN 'even' ELSE '' END
     FROM generate_series(1, 120) i`,
    [team.project.id],
  )
  for (const sort of ['name', 'created', 'status', 'last-ping']) {
    const names: string[] = []
    let path: string | undefined = `${list}?sort=${sort}`
    while (path) {
      const { text } = await owner.get(path)
      names.push(...[...text.matchAll(/>(check \d{3})<\/a>/g)].map((match) => match[1] ?? ''))
      path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    }
    t.is(names.length, 120, sort)
    t.is(new Set(names).size, 120, sort)
  }
  const even = await owner.get(`${list}?tag=even&q=check+01`)
  t.is([...even.text.matchAll(/>check \d{3}<\/a>/g)].length, 5)
})

test.serial('an export can be imported again and changes nothing', async (t) => {
  await setUp()
  await addCheck(owner, team, { name: 'Backup', tags: 'prod' })
  const document = (await owner.get(`/projects/${team.project.uuid}/export`)).text
  const path = `/projects/${team.project.uuid}/import`
  t.is((await owner.post(path, { document }, '/account')).status, 303)
  const checks = await app.deps.db('checks').where({ project_id: team.project.id })
  t.is(checks.length, 1)
  t.is((await owner.post(path, { document: 'no json' }, '/account')).status, 400)
})

test.serial('an invalid form keeps its values and shows the error at its field', async (t) => {
  await setUp()
  const fields = { name: 'Kept', kind: 'schedule', schedule: 'every other day', tz: 'Mars/Olympus', grace: '5' }
  const answer = await owner.post(list, { ...fields, grace_unit: 'minutes' }, `${list}/new`)
  t.is(answer.status, 400)
  t.true(answer.text.includes('value="Kept"'))
  t.regex(answer.text, /The schedule is not a valid cron or OnCalendar expression\./)
  t.regex(
    answer.text,
    /The time zone is not known: enter a name such as Europe\/Berlin\./,
    'every error is shown at once',
  )
  for (const field of ['schedule', 'tz']) t.regex(answer.text, new RegExp(`id="${field}"[^>]*aria-invalid="true"`))
  t.notRegex(answer.text, /id="grace"[^>]*aria-invalid="true"/)
})
