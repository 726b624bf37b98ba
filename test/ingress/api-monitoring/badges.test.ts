import test from 'ava'
import type { BadgeUrls } from '#shared/monitoring/badges/signature.ts'
import { execute } from '#shared/platform/database/sql.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct({ env: { SITE_NAME: 'Our <checks>' } })
})

async function badgesOf(key: string): Promise<Record<string, BadgeUrls>> {
  const answer = await send(app.url, '/api/v3/badges/', { headers: { 'X-Api-Key': key } })
  return (jsonOf(answer) as { badges: Record<string, BadgeUrls> }).badges
}

const fetchBadge = (url: string | undefined) => send(app.url, String(url).slice(app.url.length))

/** Makes a check look as if it had last been pinged a while ago; it has a period of a day and an hour of grace. */
async function lastPing(checkId: number, hoursAgo: number): Promise<void> {
  await execute(
    app.deps.db,
    `UPDATE checks SET status = 'up', n_pings = 1, last_ping = now() - make_interval(hours => ?) WHERE id = ?`,
    [hoursAgo, checkId],
  )
}

test('every tag has a badge, and one badge is for all checks', async (t) => {
  const { project, roKey } = await addProject(app.deps)
  t.deepEqual(Object.keys(await badgesOf(roKey)), ['*'])
  await addCheck(app.deps, project.id, { tags: 'prod db@dc1  __proto__ a/b ü "q" 50%' })
  await addCheck(app.deps, project.id, { tags: 'prod' })
  const badges = await badgesOf(roKey)
  t.deepEqual(Object.keys(badges).toSorted(), ['"q"', '*', '50%', '__proto__', 'a/b', 'db@dc1', 'prod', 'ü'])
  for (const [tag, urls] of Object.entries(badges)) {
    const answer = await fetchBadge(urls.json)
    t.deepEqual(jsonOf(answer), { status: 'up', total: tag === '*' || tag === 'prod' ? 2 : 1, grace: 0, down: 0 }, tag)
    const shields = jsonOf(await fetchBadge(urls.shields3)) as { label: string }
    t.is(shields.label, tag === '*' ? 'Our <checks>' : tag)
  }
})

for (const [what, hours, two, three] of [
  ['on time', 1, 'up', 'up'],
  ['late', 24.5, 'up', 'late'],
  ['overdue', 26, 'down', 'down'],
] as const) {
  test(`a check that is ${what} shows ${two} in two states and ${three} in three`, async (t) => {
    const { project, rwKey } = await addProject(app.deps)
    const check = await addCheck(app.deps, project.id, { name: 'a & b', tags: 'x' })
    await addCheck(app.deps, project.id, { tags: 'x' })
    await execute(
      app.deps.db,
      `UPDATE checks SET status = 'up', last_ping = now() - make_interval(mins => ?) WHERE id = ?`,
      [Math.round(hours * 60), check.id],
    )
    const { x } = await badgesOf(rwKey)
    const statusOf = async (url: string | undefined) => (jsonOf(await fetchBadge(url)) as { status: string }).status
    t.deepEqual([await statusOf(x?.json), await statusOf(x?.json3)], [two, three])
    const own = (states: number) => statusOf(`${app.url}/b/${states}/${check.badgeKey}.json`)
    t.deepEqual([await own(2), await own(3), await own(7)], [two, three, two])
    const svg = await fetchBadge(`${app.url}/b/3/${check.badgeKey}.svg`)
    t.is(svg.headers['content-type'], 'image/svg+xml')
    t.true(svg.text.includes('a &amp; b') && svg.text.includes(three))
  })
}

test('badges are never cached, and usable from any page', async (t) => {
  const { project, rwKey } = await addProject(app.deps)
  const check = await addCheck(app.deps, project.id)
  await lastPing(check.id, 1)
  const { headers } = await fetchBadge((await badgesOf(rwKey))['*']?.svg)
  t.is(headers['cache-control'], 'max-age=0, no-cache, no-store, must-revalidate, private')
  t.true(Math.abs(Date.parse(String(headers.expires)) - Date.now()) < 60_000)
  t.is(headers['access-control-allow-origin'], '*')
  t.is(headers['access-control-allow-methods'], 'GET, OPTIONS')
})

test('a signature opens only the badge it was made for', async (t) => {
  const [own, other] = [await addProject(app.deps), await addProject(app.deps)]
  await addCheck(app.deps, own.project.id, { tags: 'a b' })
  const { a, '*': all } = await badgesOf(own.rwKey)
  const statusOf = async (url: string | undefined) => (await fetchBadge(url)).status
  t.is(await statusOf(a?.svg), 200)
  t.is(await statusOf(a?.svg.replace('/a.svg', '/b.svg')), 404)
  t.is(await statusOf(a?.svg.replace(own.project.badgeKey, other.project.badgeKey)), 404)
  t.is(await statusOf(all?.svg.replace('.svg', '/*.svg')), 404)
  t.is(await statusOf(a?.svg.replace('-2/', '-3/')), 200)
})

test('a badge address with a wrong extension gets 404 without a body', async (t) => {
  const { project, rwKey } = await addProject(app.deps)
  const check = await addCheck(app.deps, project.id, { tags: 'a' })
  const { a, '*': all } = await badgesOf(rwKey)
  for (const url of [a?.svg, all?.svg, `${app.url}/b/2/${check.badgeKey}.svg`]) {
    t.is((await fetchBadge(url)).status, 200)
    for (const ending of ['.png', '.SVG', '.svg2', '.svg/', '', '.', '.%zz', '%2Esvg', '.json.exe', '.s-v-g']) {
      const answer = await fetchBadge(url?.replace('.svg', ending))
      t.deepEqual([answer.status, answer.text], [404, ''], `${url} ${ending}`)
    }
  }
})

test('repeated requests within seconds get the cached answer of the first one', async (t) => {
  // The cache lasts three seconds: a machine that stalled for so long proves nothing.
  const statuses = await eventually('two reads within seconds', async () => {
    const { project, rwKey } = await addProject(app.deps)
    const check = await addCheck(app.deps, project.id)
    const urls = [`${app.url}/b/2/${check.badgeKey}.json`, (await badgesOf(rwKey))['*']?.json]
    const look = () =>
      Promise.all(urls.map(async (url) => (jsonOf(await fetchBadge(url)) as { status: string }).status))
    const began = performance.now()
    t.deepEqual(await look(), ['up', 'up'])
    await execute(app.deps.db, `UPDATE checks SET status = 'down' WHERE id = ?`, [check.id])
    const again = await look()
    if (performance.now() - began >= 2_900) return undefined
    t.deepEqual(again, ['up', 'up'])
    return look
  })
  await eventually('both badges being read again', async () => (await statuses()).every((it) => it === 'down'))
})
