import test from 'ava'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join } from './people.ts'

test('usage counts this month separately and has a CSV export', async (t) => {
  const app = await sharedProduct()
  const team = await createTeam(app, 'Acme Usage')
  const live = `/organisations/${team.organisationUuid}/risk/production`
  const reader = await join(app, team, 'read-only')
  const stranger = await join(app, await createTeam(app, 'Without usage'), 'owner')
  const family = 'colending'
  const day = new Date()
  const first = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1))
  const before = new Date(first.getTime() - 86_400_000)
  const unit = (on_date: Date, unit_key: string) => ({
    ...{ organisation_id: team.organisationId, env: 'PRODUCTION', family, unit_key },
    on_date: on_date.toISOString().slice(0, 10),
  })
  await app.deps.db('usage_units').insert([unit(first, 'a'), unit(first, 'b'), unit(before, 'c')])
  const { text } = await reader.get(`${live}/usage`)
  const row = /<small class="mono">colending<\/small>[\s\S]*?<\/tr>/.exec(text)?.[0] ?? ''
  const [, toDate, , total] = [...row.matchAll(/<td class="figure" data-label="[^"]+">(\d+)<\/td>/g)].map(
    ([, count]) => count,
  )
  t.deepEqual([toDate, total], ['2', '3'])
  const file = await reader.get(`${live}/usage.csv`)
  t.is(file.headers['content-type'], 'text/csv; charset=utf-8')
  const days = [first, before].map((one) => one.toISOString().slice(0, 10))
  t.is(file.text, `date,family,units\n${days[0]},${family},2\n${days[1]},${family},1\n`)
  t.is((await stranger.get(`${live}/usage.csv`)).status, 404)
})
