import test from 'ava'
import { addChat } from '../../support/alerts.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, emailOf, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

/** Returns the fields of the form of a schedule with one layer. */
function aForm(people: string[], fields: Record<string, string> = {}): Record<string, string> {
  return {
    name: 'Primary',
    tz: 'Europe/Berlin',
    coverage: 'always',
    gaps: 'on',
    layers: '1',
    'layers[0].people': people.join('\n'),
    'layers[0].start': '2026-01-05T09:00',
    'layers[0].rotation.unit': 'week',
    'layers[0].rotation.every': '1',
    ...fields,
  }
}

async function setUp(): Promise<{ team: Team; base: string; owner: Visitor; responder: Visitor; reader: Visitor }> {
  const team = await createTeam(app, 'Acme')
  const [owner, responder, reader] = [
    await join(app, team, 'owner'),
    await join(app, team, 'responder'),
    await join(app, team, 'read-only'),
  ]
  return { team, base: `/projects/${team.project.uuid}/on-call`, owner, responder, reader }
}

/** Creates a schedule by the form. Returns the path of its page. */
async function addSchedule(owner: Visitor, base: string, fields: Record<string, string>): Promise<string> {
  const answer = await owner.post(`${base}/new`, fields)
  const path = String(answer.headers.location).split('?')[0] ?? ''
  if (answer.status !== 303) throw new Error(answer.text)
  return path
}

test('a schedule is created, shown, changed and deleted', async (t) => {
  const { team, base, owner } = await setUp()
  const [anna, ben] = [emailOf(team, 'owner'), emailOf(team, 'responder')]
  t.regex((await owner.get(`${base}/new`)).text, new RegExp(`${anna}`))
  const hours = { 'layers[0].hours': 'mon-fri 09:00-18:00' }
  const path = await addSchedule(owner, base, aForm([anna, ben], hours))
  const page = (await owner.get(path)).text
  t.regex(page, /<svg class="shift-bars"[^>]*aria-label="Shifts of 14 days; \d+ coverage gaps/)
  t.regex(page, /No person is on call from/)
  t.regex(page, new RegExp(`<td>${anna}</td>`))
  t.regex((await owner.get(`${path}/edit`)).text, /mon-fri 09:00-18:00/)
  t.is((await owner.post(`${path}/edit`, aForm([anna], { name: 'Second' }))).status, 303)
  t.regex((await owner.get(base)).text, /Second<\/a>/)
  t.is((await owner.post(`${path}/delete`, {}, path)).status, 303)
  t.is((await owner.get(path)).status, 404)
})

test('the form previews shifts, moves layers and names invalid lines', async (t) => {
  const { team, base, owner } = await setUp()
  const anna = emailOf(team, 'owner')
  const draft = await owner.post(`${base}/new`, { ...aForm([anna]), do: 'draft' }, `${base}/new`)
  t.regex(draft.text, new RegExp(`<td>${anna}</td><td>\\w{3} \\d+ \\w{3}, \\d\\d:\\d\\d</td><td>[^<]* or later</td>`))
  const added = await owner.post(`${base}/new`, { ...aForm([anna]), do: 'add' }, `${base}/new`)
  t.regex(added.text, /<legend>Layer 2<\/legend>/)
  const wrong = await owner.post(`${base}/new`, aForm([anna, 'no-address']), `${base}/new`)
  t.is(wrong.status, 400)
  t.regex(wrong.text, /Person 2: must be an e-mail address\./)
})

test('people are chosen from the members of the organisation, and their order is changed by buttons', async (t) => {
  const { team, base, owner, reader } = await setUp()
  const [anna, ben] = [emailOf(team, 'owner'), emailOf(team, 'responder')]
  const form = (await owner.get(`${base}/new`)).text
  t.deepEqual(peopleIn(form), [anna], 'the person who creates it')
  const offered = [...form.matchAll(/<option value="([^"]+@[^"]+)"/g)].map(([, email]) => email)
  t.deepEqual(offered, [anna, ben, anna, ben], 'as people and as the fallback; not those who may not respond')
  const draft = async (fields: Record<string, string>) =>
    peopleIn((await owner.post(`${base}/new`, { ...aForm([anna, ben, 'left@example.org']), ...fields })).text)
  t.deepEqual(await draft({ do: 'draft', 'layers[0].add': anna }), [anna, ben, 'left@example.org', anna])
  t.deepEqual(await draft({ do: 'person-up-0-2' }), [anna, 'left@example.org', ben])
  t.deepEqual(await draft({ do: 'person-remove-0-0' }), [ben, 'left@example.org'])
  const chosen = { ...aForm([ben, 'left@example.org']), 'layers[0].add': anna, fallback: 'left@example.org' }
  const path = await addSchedule(owner, base, chosen)
  const edited = (await owner.get(`${path}/edit`)).text
  t.deepEqual(peopleIn(edited), [ben, 'left@example.org', anna], 'a chosen person is added when the form is saved')
  t.regex(edited, /left@example\.org <small>not a member</)
  t.regex(edited, /<option value="left@example\.org" selected>left@example\.org \(not a member\)</)
  t.is((await reader.get(`${path}/edit`)).status, 403)
})

const peopleIn = (html: string) =>
  [...html.matchAll(/<input type="hidden" name="layers\[0\]\.people" value="([^"]*)"/g)].map(([, address]) => address)

test('a schedule that no policy names leads to the form of a policy', async (t) => {
  const { team, base, owner, reader } = await setUp()
  const path = await addSchedule(owner, base, aForm([emailOf(team, 'owner')]))
  const link = `notified. <a href="/projects/${team.project.uuid}/policies/new">Add policy</a>`
  for (const page of [path, base]) t.true((await owner.get(page)).text.includes(link), page)
  t.false((await reader.get(path)).text.includes('Add policy'))
})

test('times of a schedule are chosen to the minute', async (t) => {
  const { base, owner } = await setUp()
  const inputs = (await owner.get(`${base}/new`)).text.match(/<input[^>]*type="datetime-local"[^>]*>/g) ?? []
  t.is(inputs.length, 2)
  for (const input of inputs) t.notRegex(input, /step=/)
})

test('a change from the next handoff ends the old layer there', async (t) => {
  const { team, base, owner } = await setUp()
  const [anna, ben] = [emailOf(team, 'owner'), emailOf(team, 'responder')]
  const path = await addSchedule(owner, base, aForm([anna, ben]))
  await owner.post(`${path}/edit`, aForm([anna], { effective: 'handoff' }))
  const row = await app
    .db('schedules')
    .where({ uuid: path.split('/').at(-1) })
    .first('document')
  const [old, changed] = row.document.layers
  t.deepEqual([old.people, changed.people], [[anna, ben], [anna]])
  t.is(old.end, changed.start)
})

test('a responder may put only themselves on call, a reader no one', async (t) => {
  const { team, base, owner, responder, reader } = await setUp()
  const [anna, ben] = [emailOf(team, 'owner'), emailOf(team, 'responder')]
  const path = await addSchedule(owner, base, aForm([anna, anna, ben]))
  const onCall = async () => {
    const row = await app
      .db('shifts')
      .join('schedules', 'schedules.id', 'schedule_id')
      .where({ uuid: path.split('/').at(-1) })
      .whereNull('until_at')
      .first('person')
    return row?.person
  }
  t.is((await reader.get(path)).status, 200)
  t.is((await reader.post(`${path}/take`, {}, '/account')).status, 403)
  t.is((await responder.post(`${path}/edit`, aForm([ben]), '/account')).status, 403)
  const before = await onCall()
  const taker = before === ben ? owner : responder
  t.is((await taker.post(`${path}/take`, {}, base)).status, 303)
  t.not(await onCall(), before)

  const override = { person: ben, replaces: '', start: '2037-03-01T09:00', end: '2037-03-02T09:00', note: 'swap' }
  t.is((await responder.post(`${path}/override`, { ...override, person: anna }, `${path}/override`)).status, 403)
  const skipped = await responder.post(`${path}/override`, { ...override, end: '2037-03-29T02:30' }, `${path}/override`)
  t.regex(skipped.text, /The clocks skip this time/)
  const twice = { ...override, end: '2037-10-25T02:30' }
  t.regex((await responder.post(`${path}/override`, twice, `${path}/override`)).text, /choose one/)
  t.is((await responder.post(`${path}/override`, override, `${path}/override`)).status, 303)
  const page = (await responder.get(path)).text
  t.regex(page, /Sun 1 Mar, 09:00 to Mon 2 Mar, 09:00: swap/)
  const { uuid } = await app.db('overrides').where({ note: 'swap', person: ben }).first('uuid')
  t.is((await responder.post(`${path}/overrides/${uuid}/delete`, {}, path)).status, 303)
})

test('a refusal names its reason: no end, too many overrides, a swap that is not open', async (t) => {
  const { team, base, owner, responder } = await setUp()
  const [anna, ben] = [emailOf(team, 'owner'), emailOf(team, 'responder')]
  const path = await addSchedule(owner, base, aForm([anna]))
  const taken = async () => {
    t.is((await responder.post(`${path}/take`, {}, base)).status, 303)
    return (await responder.get(base)).text
  }
  t.regex(await taken(), /This shift has no end\. Add an override with an end instead\./)
  await owner.post(`${path}/edit`, aForm([anna, ben]), `${path}/edit`)
  const swap = {
    to: '',
    start: '2037-03-01T09:00',
    end: '2037-03-02T09:00',
    back_start: '',
    back_end: '',
    note: 'full',
  }
  await owner.post(`${path}/swap`, swap, `${path}/swap`)
  const { id, uuid, schedule_id } = await app.db('swaps').where({ requester: anna, note: 'full' }).first()
  const times = { starts_at: '2037-01-01', ends_at: '2037-01-02' }
  const rows = Array.from({ length: 500 }, (_, index) => ({ schedule_id, number: 1000 + index, person: ben, ...times }))
  await app.db('overrides').insert(rows)
  const limit = /The schedule has reached its limit of 500 overrides\./
  t.regex(await taken(), limit)
  const override = { person: ben, replaces: '', start: '2037-03-01T09:00', end: '2037-03-02T09:00', note: '' }
  const refused = await responder.post(`${path}/override`, override, `${path}/override`)
  t.is(refused.status, 400)
  t.regex(refused.text, limit)
  const take = async () => {
    t.is((await responder.post(`${path}/swaps/${uuid}/take`, {}, path)).status, 303)
    return (await responder.get(path)).text
  }
  t.regex(await take(), limit)
  await app.db('swaps').where({ id }).update({ state: 'cancelled' })
  t.regex(await take(), /The swap is not open\./)
})

test('the calendar address is shown once and can be revoked', async (t) => {
  const { team, base, owner } = await setUp()
  await addSchedule(owner, base, aForm([emailOf(team, 'owner')]))
  await owner.post(`${base}/feed`, {}, base)
  const [, address = ''] = /(\/cal\/[\w-]{43}\.ics)/.exec((await owner.get(base)).text) ?? []
  t.is((await owner.get(address)).status, 200)
  t.notRegex((await owner.get(base)).text, /\/cal\//)
  await owner.post(`${base}/feed/revoke`, {}, base)
  t.is((await owner.get(address)).status, 404)
})

test('a swap is offered, accepted by another person and released', async (t) => {
  const { team, base, owner, responder, reader } = await setUp()
  const [anna, ben] = [emailOf(team, 'owner'), emailOf(team, 'responder')]
  const path = await addSchedule(owner, base, aForm([anna]))
  const swap = { to: '', start: '2037-03-01T09:00', end: '2037-03-02T09:00', back_start: '', back_end: '', note: 'x' }
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 16)
  const late = await owner.post(`${path}/swap`, { ...swap, start: inDays(-1), end: inDays(1) }, `${path}/swap`)
  t.regex(late.text, /Must be in the future\./)
  t.is((await owner.post(`${path}/swap`, swap, `${path}/swap`)).status, 303)
  const { uuid } = await app.db('swaps').where({ requester: anna }).first('uuid')
  const act = (visitor: Visitor, what: string) => visitor.post(`${path}/swaps/${uuid}/${what}`, {}, path)
  t.is((await act(owner, 'take')).status, 403)
  t.is((await act(reader, 'take')).status, 403)
  t.is((await act(responder, 'cancel')).status, 403)
  t.is((await act(responder, 'take')).status, 303)
  t.regex((await owner.get(path)).text, new RegExp(`taken by ${ben}`))
  t.is((await app.db('overrides').where({ person: ben, replaces: anna })).length, 1)
  t.is((await act(responder, 'release')).status, 303)
  t.is((await app.db('overrides').where({ person: ben, replaces: anna })).length, 0)
  t.is((await act(owner, 'cancel')).status, 303)
})

test('the form chooses the integrations that get each change', async (t) => {
  const { team, base, owner } = await setUp()
  const chat = await addChat(app.deps, team.project.id, 'https://chat.example.org/')
  const path = await addSchedule(owner, base, aForm([], { 'notices.channels': chat.uuid }))
  t.regex((await owner.get(`${path}/edit`)).text, new RegExp(`value="${chat.uuid}" checked`))
  await owner.post(`${path}/edit`, aForm([]), `${path}/edit`)
  t.notRegex((await owner.get(`${path}/edit`)).text, new RegExp(`value="${chat.uuid}" checked`))
})

test('calendar addresses of a schedule and of a person are shown once and revoked', async (t) => {
  const { base, owner, responder } = await setUp()
  const path = await addSchedule(owner, base, aForm([]))
  const own = '/account/notifications'
  for (const [visitor, page, action] of [
    [owner, path, `${path}/feeds`],
    [responder, own, `${own}/feed`],
  ] as const) {
    t.is((await visitor.post(action, { name: 'Office' }, page)).status, 303)
    const { text } = await visitor.get(page)
    const feed = /\/cal\/[\w-]{43}\.ics/.exec(text)?.[0] ?? ''
    t.is((await owner.get(feed)).status, 200)
    t.notRegex((await visitor.get(page)).text, /\/cal\//)
    const revoke = /action="([^"]*\/revoke)"/.exec(text)?.[1] ?? ''
    t.is((await visitor.post(revoke, {}, page)).status, 303)
    t.is((await owner.get(feed)).status, 404)
  }
  t.notRegex((await responder.get(path)).text, /Calendars/)
  t.is((await responder.post(`${path}/feeds`, {}, path)).status, 403)
})
