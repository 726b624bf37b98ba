import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addIntegration } from '../../support/projects.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, join, type Team } from './people.ts'
import { fieldsOf, type Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
let base: string

test.before(async () => {
  app = await sharedProduct({ workers: ['sweeper'] })
})
/** Creates a project with an owner for each test. */
async function setUp(): Promise<void> {
  team = await createTeam(app, 'Team')
  owner = await join(app, team, 'owner')
  base = `/projects/${team.project.uuid}`
}

const once = { name: 'Patch night', match: 'db', kind: 'once', starts: '', for: '2', for_unit: 'hours', tz: 'UTC' }
const windowsOf = () => app.db('maintenance_windows').where({ project_id: team.project.id }).orderBy('id')

test.serial('maintenance can begin now, end early and be deleted', async (t) => {
  await setUp()
  const check = await addCheck(owner, team, { name: 'db-backup', tags: 'db' })
  const other = await addCheck(owner, team, { name: 'web', tags: 'www' })
  t.is((await owner.post(`${base}/windows/new`, { ...once, exclude: 'on' })).status, 303)
  const list = (await owner.get(`${base}/windows`)).text
  t.regex(list, /<b>Now<\/b>, until/)
  t.regex(list, /db-backup\. It does not count as uptime or downtime\./)
  t.regex(
    (await owner.get(`/checks/${check}`)).text,
    /maintenance<\/a> “Patch night” until <time[^>]*data-exact="named"/,
  )
  t.notRegex((await owner.get(`/checks/${other}`)).text, /Patch night/)
  const [row] = await windowsOf()
  t.is(row?.uptime, 'exclude')
  await app
    .db('maintenance_windows')
    .where({ id: row?.id })
    .update({ starts_at: app.db.raw(`now() - interval '10 minutes'`) })
  t.is((await owner.post(`${base}/windows/${row?.uuid}/end`, {}, `${base}/windows`)).status, 303)
  t.regex((await owner.get(`${base}/windows`)).text, /Over since/)
  t.notRegex((await owner.get(`/checks/${check}`)).text, /Patch night/)
  await owner.post(`${base}/windows/${row?.uuid}/delete`, {}, `${base}/windows`)
  t.regex((await owner.get(`${base}/windows`)).text, /No maintenance is planned/)
})

test.serial('ending recurring maintenance early ends only the current occurrence', async (t) => {
  await setUp()
  const check = await addCheck(owner, team, { name: 'db-backup', tags: 'db' })
  const begin = new Date(Date.now() - 3_600_000).toISOString()
  const every = `*-${begin.slice(5, 10)} ${begin.slice(11, 16)}`
  await owner.post(`${base}/windows/new`, { ...once, kind: 'recurring', every })
  const [row] = await windowsOf()
  t.regex((await owner.get(`${base}/windows`)).text, /End it now, this time only[\s\S]*<b>Now<\/b>, until/)
  t.regex((await owner.get(`/checks/${check}`)).text, /Patch night/)
  t.is((await owner.post(`${base}/windows/${row?.uuid}/end`, {}, `${base}/windows`)).status, 303)
  const isEnded = async () => {
    const list = (await owner.get(`${base}/windows`)).text
    t.regex(list, /Next from <time/)
    t.notRegex(list, /<b>Now<\/b>|End it now/)
    t.notRegex((await owner.get(`/checks/${check}`)).text, /Patch night/)
  }
  await isEnded()
  const edit = `${base}/windows/${row?.uuid}`
  t.is((await owner.post(edit, { ...fieldsOf((await owner.get(edit)).text), name: 'Again' })).status, 303)
  await isEnded()
})

test.serial('the form creates recurring maintenance in its time zone and saves it unchanged', async (t) => {
  await setUp()
  const path = `${base}/windows/new`
  await owner.post(path, { ...once, starts: '2037-03-29T02:30', tz: 'Europe/Riga' })
  await owner.post(path, { ...once, kind: 'recurring', every: 'Sat 02:00', tz: 'Europe/Riga', shown: 'on' })
  const [first, second] = await windowsOf()
  t.is(first?.starts_at.toISOString(), '2037-03-29T00:30:00.000Z')
  t.is(first?.ends_at.toISOString(), '2037-03-29T02:30:00.000Z')
  t.like(second, { every: 'Sat 02:00', for_seconds: 7200, tz: 'Europe/Riga', shown: true, uptime: 'count' })
  for (const row of [first, second]) {
    const edit = `${base}/windows/${row?.uuid}`
    t.is((await owner.post(edit, { ...fieldsOf((await owner.get(edit)).text), name: 'Again' })).status, 303)
    const saved = await app.db('maintenance_windows').where({ id: row?.id }).first()
    t.deepEqual({ ...saved, name: '' }, { ...row, name: '' })
  }
  const input = async () =>
    /<input[^>]*name="starts"[^>]*>/.exec((await owner.get(`${base}/windows/${first?.uuid}`)).text)?.[0] ?? ''
  t.notRegex(await input(), /step=/)
  await app.db('maintenance_windows').where({ id: first?.id }).update({ starts_at: '2037-03-29T00:30:07Z' })
  t.regex(await input(), /:07"[^>]* step="1"/, 'seconds that were stored stay visible')
})

test.serial('errors are shown at fields, and the form keeps its values', async (t) => {
  await setUp()
  const path = `${base}/windows/new`
  const cases: [Record<string, string>, string][] = [
    [{ match: '' }, 'match'],
    [{ starts: 'tomorrow' }, 'starts'],
    [{ for: 'long' }, 'for'],
    [{ for: '31', for_unit: 'days' }, 'for'],
    [{ tz: 'Mars' }, 'tz'],
    [{ kind: 'recurring', every: 'now and then' }, 'every'],
    [{ add_check: 'unknown' }, 'add_check'],
    [{ name: 'x'.repeat(101) }, 'name'],
  ]
  for (const [wrong, name] of cases) {
    const { status, text } = await owner.post(path, { ...once, ...wrong })
    t.is(status, 400, name)
    t.regex(text, new RegExp(`class="field-error" id="${name}-error"`))
    t.notRegex(text, /json validation error/)
    t.like(fieldsOf(text), { ...once, ...wrong })
  }
  t.deepEqual(await windowsOf(), [])
})

test.serial('a check is chosen by name, and long windows cause a warning', async (t) => {
  await setUp()
  const check = await addCheck(owner, team, { name: 'db-backup' })
  await owner.post(`${base}/windows/new`, { ...once, match: '', add_check: 'db-backup', for: '5', for_unit: 'days' })
  await owner.post(`/checks/${check}/mute`, { hours: '4' }, `/checks/${check}`)
  const [long, mute] = await windowsOf()
  t.deepEqual(long?.checks, [check])
  t.deepEqual(mute?.checks, [check])
  t.is(mute?.ends_at - mute?.starts_at, 4 * 3_600_000)
  t.regex((await owner.get(`${base}/windows`)).text, /more than half of the next seven days: db-backup\./)
  t.regex((await owner.get(`/checks/${check}`)).text, /more than half of the next seven days/)
})

test.serial('excluded time does not count in the check, list or status page', async (t) => {
  await setUp()
  const uuid = await addCheck(owner, team, { name: 'db-backup', tags: 'db' })
  const row = await app.db('checks').where({ uuid }).first('id')
  // One clock reading for all times, because two readings may differ by a second.
  const now = Math.floor(Date.now() / 1000) * 1000
  const ago = (hours: number) => new Date(now - hours * 3_600_000)
  const state = { created_at: ago(4), n_pings: 5, last_ping: ago(0), status: 'up' }
  await app.db('checks').where({ uuid }).update(state)
  const flip = (hours: number, from_status: string, to_status: string) =>
    app
      .db('flips')
      .insert({ check_id: row?.id, at: ago(hours), from_status, to_status, reason: 'timeout', processed_at: ago(0) })
  await flip(4, 'new', 'up')
  await flip(3, 'up', 'down')
  await flip(1, 'down', 'up')
  await app.db('status_pages').insert({ project_id: team.project.id, token: 'W'.repeat(22), title: 'Ours' })
  t.regex((await owner.get(`/checks/${uuid}`)).text, /50\.\d\d %/)
  await app.db('maintenance_windows').insert({
    project_id: team.project.id,
    name: 'Patch night',
    match: 'db',
    starts_at: ago(3),
    ends_at: ago(-1),
    uptime: 'exclude',
    shown: true,
  })
  const page = (await owner.get(`/checks/${uuid}`)).text
  t.regex(page, /<dd>100 %<small>since /)
  t.regex(page, /No outage in 90 days\./)
  t.regex((await owner.get(`${base}/checks`)).text, /No outage in 30 days\./)
  const status = await eventually('the status page', async () => {
    const { text } = await owner.get(`/status/${'W'.repeat(22)}`)
    return text.includes('db-backup') && text
  })
  t.regex(status, /Maintenance until <time/)
  t.regex(status, /class="planned"/)
  t.regex(status, /no downtime, maintenance/)
  t.notRegex(status, /Patch night/, 'only members see the name of the window')
})

test.serial('a viewer cannot plan maintenance, a stranger cannot see it', async (t) => {
  await setUp()
  const check = await addCheck(owner, team, { name: 'db-backup', tags: 'db' })
  await owner.post(`${base}/windows/new`, once)
  const [row] = await windowsOf()
  const viewer = await join(app, team, 'read-only', `viewer${team.organisationId}@example.com`)
  const stranger = await join(app, await createTeam(app, 'far away'), 'owner', 'far@example.com')
  const list = await viewer.get(`${base}/windows`)
  t.is(list.status, 200)
  t.false(list.text.includes(check), 'viewers do not see the ping URL')
  t.is((await stranger.get(`${base}/windows`)).status, 404)
  const changes = [`new`, row?.uuid, `${row?.uuid}/end`, `${row?.uuid}/delete`].map((end) => `${base}/windows/${end}`)
  for (const change of [...changes, `/checks/${check}/mute`, `/checks/${check}/unmute`]) {
    t.is((await viewer.post(change, once, '/account')).status, 403, change)
    t.is((await stranger.post(change, once, '/account')).status, 404, change)
  }
  const still = await app.db('maintenance_windows').where({ project_id: team.project.id })
  t.deepEqual(still, [row])
})

test.serial('each form of a project ends with a submit button and Cancel', async (t) => {
  await setUp()
  const check = await addCheck(owner, team)
  const integration = await addIntegration(app.deps, team.project.id, 'Ops')
  await app.deps
    .db('integrations')
    .where({ uuid: integration.uuid })
    .update({ email_verified: true, last_error: 'refused' })
  const pages = [
    [`${base}/checks/new`, base],
    [`/checks/${check}/edit`, `/checks/${check}`],
    [`/checks/${check}/rules`, `/checks/${check}`],
    [`${base}/policies/new`, `${base}/policies`],
    [`${base}/windows/new`, `${base}/windows`],
    [`${base}/integrations/new/webhook`, `${base}/integrations`],
    [`${base}/simulator`, `${base}/policies`],
  ] as const
  for (const [page, way] of pages) {
    const [edited = ''] =
      /<form[^>]* class="stack check-form">[\s\S]*?<\/form>/.exec((await owner.get(page)).text) ?? []
    const [, first] = /<button type="submit"([^>]*)>/.exec(edited) ?? []
    t.regex(first ?? '', /class="hidden"/, `${page}: Enter presses the hidden submit button`)
    const [foot = ''] = /<div class="form-foot">[\s\S]*$/.exec(edited) ?? []
    t.regex(foot, /^<div class="form-foot"><button type="submit" class="primary">[^<]+<\/button>/, page)
    t.regex(foot, new RegExp(`<a class="button" href="${way}[^"]*">Cancel</a></div></form>$`), page)
  }
  for (const page of [`/checks/${check}/edit`, `${base}/policies/new`])
    t.regex(
      (await owner.get(page)).text,
      /<span class="pill bad">failing<\/span>/,
      `${page} marks failing integrations`,
    )
})
