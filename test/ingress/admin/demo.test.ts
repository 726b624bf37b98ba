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

test('each outage of the sample data has an incident, a decision and messages that agree with its pings', async (t) => {
  const { db } = app.deps
  const admin = adminOf(app.deps)
  await app.project() // the data may be added to an installation in use
  const { status, stdout } = await admin('demo', '--json')
  t.is(status, 0)
  const created = JSON.parse(stdout)
  t.is(created.checks, 60)
  const outages = await db('flips').where({ to_status: 'down' })
  t.is(created.incidents, outages.length)
  t.is((await db('incidents').whereNull('resolved_at')).length, (await db('checks').where({ status: 'down' })).length)
  const unpaired = await db('incidents as i')
    .join('checks as c', 'c.id', 'i.check_id')
    .whereRaw(`(i.resolved_at IS NULL) <> (c.status = 'down')`)
    .whereRaw('i.n = (SELECT max(n) FROM incidents WHERE check_id = c.id)')
  t.deepEqual(unpaired, [], 'a check has an open incident if and only if it is down')
  const silent = await db('incidents as i').whereNotExists(
    db('notifications as m').whereRaw('m.incident_id = i.id AND m.check_status = ?', ['down']),
  )
  t.deepEqual(silent, [])
  const failed = await db('notifications').where({ state: 'failed' }).select('error').distinct()
  t.deepEqual(failed, [{ error: 'Received status code 500' }])
  const ends = await db('flips').where({ from_status: 'down', to_status: 'up' })
  t.is((await db('alert_decisions')).length, outages.length + ends.length)
  const other = await db('checks as c')
    .whereNot({ 'c.status': 'new' })
    .whereNotExists(db('pings as p').whereRaw('p.check_id = c.id AND p.n = c.n_pings AND p.at = c.last_ping'))
  t.deepEqual(other, [], 'the newest ping is the last ping of its check')

  const again = await admin('demo')
  t.is(again.status, 1)
  t.regex(again.stderr, /The project “Sample data” exists/)
  t.is((await admin('demo', '--name', 'Another')).status, 0)
})
