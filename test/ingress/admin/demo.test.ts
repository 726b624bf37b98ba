import test from 'ava'
import { adminOf } from '../../support/admin.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'

let app: HttpProduct
test.before(async () => {
  app = await openProduct({ listener: 'http' })
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
})

test('a demo has an incident, a decision and messages for each outage it shows, and is made once', async (t) => {
  const { db } = app.deps
  const admin = adminOf(app.deps)
  await admin('project', 'create', '--name', 'Demo')
  const { status, stdout } = await admin('demo', '--history', '--json')
  t.is(status, 0)
  const made = JSON.parse(stdout)
  t.is(made.checks, 60)
  const outages = await db('flips').where({ to_status: 'down' })
  t.is(made.incidents, outages.length)
  t.is((await db('incidents').whereNull('resolved_at')).length, (await db('checks').where({ status: 'down' })).length)
  const unpaired = await db('incidents as i')
    .join('checks as c', 'c.id', 'i.check_id')
    .whereRaw(`(i.resolved_at IS NULL) <> (c.status = 'down')`)
    .whereRaw('i.n = (SELECT max(n) FROM incidents WHERE check_id = c.id)')
  t.deepEqual(unpaired, [], 'what is down has an open incident, and nothing else has')
  const untold = await db('incidents as i').whereNotExists(
    db('notifications as m').whereRaw('m.incident_id = i.id AND m.check_status = ?', ['down']),
  )
  t.deepEqual(untold, [])
  const failed = await db('notifications').where({ state: 'failed' }).select('error').distinct()
  t.deepEqual(failed, [{ error: 'Received status code 500' }])
  const ends = await db('flips').where({ from_status: 'down', to_status: 'up' })
  t.is((await db('alert_decisions')).length, outages.length + ends.length)

  const again = await admin('demo', '--history')
  t.is(again.status, 2)
  t.regex(again.stderr, /this database holds checks/)
})
