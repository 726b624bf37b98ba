import test from 'ava'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { projectReports } from '#shared/monitoring/reports/report-store.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

test('the times of a check are read by uuid and unique_key, with both kinds of keys', async (t) => {
  const { project, rwKey, roKey } = await addProject(app.deps)
  const check = await addCheck(app.deps, project.id, { name: 'db', tags: 'db' })
  const at = (hour: number) => new Date(Date.UTC(2026, 0, 10, hour))
  await app
    .db('checks')
    .where({ id: check.id })
    .update({ created_at: at(0), status: 'up' })
  const flips = [
    [1, 'new', 'up'],
    [4, 'up', 'down'],
    [6, 'down', 'up'],
  ] as const
  for (const [hour, from, to] of flips) {
    await app
      .db('flips')
      .insert({ check_id: check.id, at: at(hour), from_status: from, to_status: to, reason: 'timeout' })
  }
  await app.db('unknown_periods').insert({
    check_id: check.id,
    gap_from: at(7),
    gap_until: at(8),
    from_at: at(7),
    until_at: at(8),
    expected_at: at(7),
    reason: 'GAP',
  })
  const window = { project_id: project.id, name: '', match: 'db', starts_at: at(5), ends_at: at(7) }
  await app.db('maintenance_windows').insert([
    { ...window, uptime: 'exclude' },
    { ...window, match: 'web', starts_at: at(1), uptime: 'exclude' },
    { ...window, starts_at: at(1), uptime: 'count' },
  ])
  const uptime = async (name: string, key: string, query: string) =>
    await send(app.url, `/api/v3/checks/${name}/uptime${query}`, { headers: { 'X-Api-Key': key } })
  const unix = (hour: number) => at(hour).getTime() / 1000
  const day = `?start=${unix(0)}&end=${unix(10)}`
  const hour = 3600
  const whole = { up: 5 * hour, down: hour, unknown: hour, maintenance: 2 * hour, off: hour, ratio: 0.833_333 }
  t.deepEqual(jsonOf(await uptime(check.uuid, rwKey, day)), whole)
  t.deepEqual(jsonOf(await uptime(check.uuid, roKey, `?end=${unix(10)}`)), whole, 'from when it was made')
  t.deepEqual(jsonOf(await uptime(uniqueKey(check.uuid), roKey, day)), whole)
  t.like(jsonOf(await uptime(check.uuid, rwKey, `?start=${unix(2)}&end=${unix(3)}`)), { up: hour, off: 0, ratio: 1 })
  t.like(jsonOf(await uptime(check.uuid, rwKey, `?start=${unix(5)}&end=${unix(6)}`)), {
    maintenance: hour,
    ratio: null,
  })
  const span = { from: at(0).getTime() * 1000, until: at(10).getTime() * 1000 }
  const micros = hour * 1_000_000
  t.like((await projectReports(app.db, [project.id], span))[0], { up: 5 * micros, down: micros, unknown: micros })

  const wrong = await uptime(check.uuid, rwKey, '?start=soon')
  t.is(wrong.status, 400)
  t.is(wrong.text, '')
})
