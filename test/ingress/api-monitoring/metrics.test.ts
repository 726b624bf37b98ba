import test from 'ava'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { execute } from '#shared/platform/database/sql.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { parseExposition } from './exposition.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

test('a scrape has every check, tag and total, with labels escaped', async (t) => {
  const { project, roKey } = await addProject(app.deps)
  const odd = await addCheck(app.deps, project.id, { name: 'a "b" \\ c\nd', tags: 'x y' })
  const down = await addCheck(app.deps, project.id, { name: 'down', tags: 'y' })
  await execute(app.deps.db, `UPDATE checks SET status = 'down' WHERE id = ?`, [down.id])
  const answer = await send(app.url, `/projects/${project.uuid}/metrics/${roKey}`)
  t.is(answer.status, 200)
  t.regex(String(answer.headers['content-type']), /^text\/plain/)
  const lines = answer.text.split('\n')
  const labels = `name="a \\"b\\" \\\\ c\\nd", tags="x y", unique_key="${uniqueKey(odd.uuid)}"`
  t.true(lines.includes(`hc_check_up{${labels}} 1`))
  t.true(lines.includes(`hc_check_paused{${labels}} 0`))
  t.true(lines.includes(`hc_check_up{name="down", tags="y", unique_key="${uniqueKey(down.uuid)}"} 0`))
  for (const line of ['hc_tag_up{tag="x"} 1', 'hc_tag_up{tag="y"} 0', 'hc_checks_total 2', 'hc_checks_down_total 1']) {
    t.true(lines.includes(line), line)
  }
})

test('metrics require the read-only key, also as a bearer token', async (t) => {
  const { project, roKey, rwKey } = await addProject(app.deps)
  const path = `/projects/${project.uuid}/metrics/`
  const status = async (headers: Record<string, string>) => (await send(app.url, path, { headers })).status
  t.is(await status({ Authorization: `Bearer ${roKey}` }), 200)
  t.is(await status({}), 401)
  t.is(await status({ Authorization: `Basic ${roKey}` }), 401)
  t.is(await status({ Authorization: 'Bearer short' }), 400)
  t.is(await status({ Authorization: `Bearer ${rwKey}` }), 403)
  t.is((await send(app.url, `${path}${rwKey}`)).status, 403)
  t.is((await send(app.url, `${path}short`)).status, 400)
})

test('a strict parser reads hostile names and tags unchanged', async (t) => {
  const { project, roKey } = await addProject(app.deps)
  const names = [
    '',
    'a "quoted" \\ name',
    'line\nbreak',
    '{x="1"} 2',
    '# HELP x',
    'caf\u00e9 \u202e\u{1f600}',
    '\\n',
    '</script>',
  ]
  const tags = ['plain', 'a"b', 'back\\slash', '=cmd()', '__proto__']
  for (const [index, name] of names.entries()) {
    const check = await addCheck(app.deps, project.id, { name, tags: tags.join('  ') })
    const status = ['new', 'up', 'down', 'paused'][index % 4] ?? 'new'
    await execute(app.deps.db, 'UPDATE checks SET status = ?, last_ping = now(), last_start = ? WHERE id = ?', [
      status,
      index % 2 === 0 ? null : new Date().toISOString(),
      check.id,
    ])
  }
  const { text } = await send(app.url, `/projects/${project.uuid}/metrics/${roKey}`)
  const samples = parseExposition(text)
  const of = (family: string) => samples.filter(({ name }) => name === family)
  for (const family of ['hc_check_up', 'hc_check_started', 'hc_check_grace', 'hc_check_paused']) {
    t.deepEqual(
      of(family).map(({ labels }) => labels.name),
      names,
      family,
    )
    for (const { labels } of of(family)) t.is(labels.tags, tags.join(' '))
  }
  t.deepEqual(
    of('hc_tag_up')
      .map(({ labels }) => labels.tag)
      .sort(),
    [...tags].sort(),
  )
  t.deepEqual(
    of('hc_check_up').map(({ value }) => value),
    [1, 1, 0, 1, 1, 1, 0, 1],
  )
  t.deepEqual(
    of('hc_check_started').map(({ value }) => value),
    [0, 1, 0, 1, 0, 1, 0, 1],
  )
  t.deepEqual(
    [...of('hc_checks_total'), ...of('hc_checks_down_total')].map(({ value }) => value),
    [8, 2],
  )
})

test('a project without checks has valid metrics', async (t) => {
  const { project, roKey } = await addProject(app.deps)
  const { text } = await send(app.url, `/projects/${project.uuid}/metrics/${roKey}`)
  t.deepEqual(
    parseExposition(text).map(({ name, value }) => [name, value]),
    [
      ['hc_checks_total', 0],
      ['hc_checks_down_total', 0],
    ],
  )
})
