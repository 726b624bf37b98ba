import test from 'ava'
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

test('a schedule is created by the form, shown as bars and list, changed and deleted', async (t) => {
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

test('the form previews shifts, rearranges layers, and names the invalid line', async (t) => {
  const { team, base, owner } = await setUp()
  const anna = emailOf(team, 'owner')
  const draft = await owner.post(`${base}/new`, { ...aForm([anna]), do: 'draft' }, `${base}/new`)
  t.regex(draft.text, new RegExp(`<td>${anna}</td><td>\\w{3} \\d+ \\w{3}, \\d\\d:\\d\\d`))
  const added = await owner.post(`${base}/new`, { ...aForm([anna]), do: 'add' }, `${base}/new`)
  t.regex(added.text, /<legend>Layer 2<\/legend>/)
  const wrong = await owner.post(`${base}/new`, aForm([anna, 'no-address']), `${base}/new`)
  t.is(wrong.status, 400)
  t.regex(wrong.text, /Line 2: must be an e-mail address\./)
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

test('a responder takes over and overrides only for themselves; a read-only member does neither', async (t) => {
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

  const override = { person: ben, replaces: '', start: '2027-03-01T09:00', end: '2027-03-02T09:00', note: 'swap' }
  t.is((await responder.post(`${path}/override`, { ...override, person: anna }, `${path}/override`)).status, 403)
  const skipped = await responder.post(`${path}/override`, { ...override, end: '2027-03-28T02:30' }, `${path}/override`)
  t.regex(skipped.text, /The clocks skip this time/)
  const twice = { ...override, end: '2027-10-31T02:30' }
  t.regex((await responder.post(`${path}/override`, twice, `${path}/override`)).text, /choose one/)
  t.is((await responder.post(`${path}/override`, override, `${path}/override`)).status, 303)
  const page = (await responder.get(path)).text
  t.regex(page, /Mon 1 Mar, 09:00 to Tue 2 Mar, 09:00: swap/)
  const { uuid } = await app.db('overrides').where({ note: 'swap', person: ben }).first('uuid')
  t.is((await responder.post(`${path}/overrides/${uuid}/delete`, {}, path)).status, 303)
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

test('a swap is offered, taken by another person and released by the page', async (t) => {
  const { team, base, owner, responder, reader } = await setUp()
  const [anna, ben] = [emailOf(team, 'owner'), emailOf(team, 'responder')]
  const path = await addSchedule(owner, base, aForm([anna]))
  const swap = { to: '', start: '2027-03-01T09:00', end: '2027-03-02T09:00', back_start: '', back_end: '', note: 'x' }
  const late = await owner.post(`${path}/swap`, { ...swap, start: '2020-03-01T09:00' }, `${path}/swap`)
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
