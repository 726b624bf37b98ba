import test from 'ava'
import { uniqueKey } from '#shared/checks/unique-key.ts'
import { execute } from '#shared/platform/sql.ts'
import { openApp, type TestApp } from '../../support/app.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { send } from '../../support/send.ts'

let app: TestApp
test.before(async () => {
  app = await openApp()
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
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

test('the key may be a bearer token, and must be the read-only one', async (t) => {
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
