import test from 'ava'
import { z } from 'zod'
import type { HttpProduct } from '../../support/product.ts'
import { addKey } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
test.before(async () => {
  app = await sharedProduct()
  team = await createTeam(app, 'Early')
  owner = await join(app, team, 'owner')
})

const SCHEDULE = { kind: 'schedule', schedule: '0 3 * * *', tz: 'UTC', grace: '10', grace_unit: 'minutes' }

async function pingedAt(uuid: string, lastPing: string): Promise<void> {
  await app.deps.db('checks').where({ uuid }).update({ status: 'up', n_pings: 1, last_ping: lastPing })
}

test('a change of the early ping rule changes the deadline at once', async (t) => {
  // In the future, so that the running sweeper does not find the check overdue.
  const uuid = await addCheck(owner, team, SCHEDULE)
  await pingedAt(uuid, '2036-11-20T02:59:20Z')
  const edit = `/checks/${uuid}/edit`
  const deadline = async () => (await app.deps.db('checks').where({ uuid }).first('alert_after'))?.alert_after
  await owner.post(edit, { ...SCHEDULE, early: '1', early_unit: 'minutes' }, edit)
  t.deepEqual(await deadline(), new Date('2036-11-21T03:10:00Z'))
  t.regex((await owner.get(edit)).text, /name="early" value="1"/)
  t.regex((await owner.get(`/checks/${uuid}`)).text, /Pings up to 1 min early count for the next time\./)
  await owner.post(edit, { ...SCHEDULE, early: '0', early_unit: 'minutes' }, edit)
  t.deepEqual(await deadline(), new Date('2036-11-20T03:10:00Z'))
  const wrong = await owner.post(edit, { ...SCHEDULE, early: '2', early_unit: 'days' }, edit)
  t.is(wrong.status, 400)
  t.regex(wrong.text, /The time of an early ping must be between 0 and 86400 seconds\./)
})

test('a check that went down after an early success suggests the rule', async (t) => {
  const uuid = await addCheck(owner, team, SCHEDULE)
  await pingedAt(uuid, '2026-11-20T02:59:20Z')
  await app.deps.db('checks').where({ uuid }).update({ status: 'down', alert_after: null })
  await app.deps.db.raw(
    `INSERT INTO flips (check_id, at, from_status, to_status, reason, processed_at)
     SELECT id, '2026-11-20T03:10:00Z', 'up', 'down', 'timeout', now() FROM checks WHERE uuid = ?`,
    [uuid],
  )
  const { text } = await owner.get(`/checks/${uuid}`)
  t.regex(text, /It came 40 s before the expected time/)
  t.regex(text, /edit#early">Accept pings early</)
  await pingedAt(uuid, '2026-11-20T01:59:20Z')
  await app.deps.db('checks').where({ uuid }).update({ status: 'down' })
  t.false((await owner.get(`/checks/${uuid}`)).text.includes('Accept pings early'))
})

test('simulates early pings, and the preview shows their limit', async (t) => {
  const key = await addKey(app.deps, team.project.id, 'rw')
  const events = ['20', '21', '22'].map((day) => ({ at: `2026-11-${day}T02:59:20+00:00`, kind: 'success' }))
  const span = { from: '2026-11-19T00:00:00+00:00', until: '2026-11-23T00:00:00+00:00' }
  const settings = { schedule: '0 3 * * *', tz: 'UTC', grace: 600 }
  const downs = async (early: number) => {
    const body = JSON.stringify({ settings, rules: { early }, events, ...span })
    const answer = await send(app.url, '/api/v3/simulations/', { method: 'POST', headers: { 'X-Api-Key': key }, body })
    const schema = z.object({ flips: z.array(z.object({ timestamp: z.string(), up: z.int() })) })
    return schema.parse(jsonOf(answer)).flips.flatMap(({ timestamp, up }) => (up === 0 ? timestamp : []))
  }
  t.deepEqual(await downs(60), [])
  t.deepEqual(
    await downs(0),
    ['20', '21', '22'].map((day) => `2026-11-${day}T03:10:00+00:00`),
  )
  const preview = new URLSearchParams({ ...SCHEDULE, schedule: '*/10 * * * *', early: '6', early_unit: 'minutes' })
  t.regex(
    (await owner.get(`/schedule-preview?${preview}`)).text,
    /more than 5 min early \(half of the shortest interval\) may count for the previous time/,
  )
})
