import test from 'ava'
import type { BadgeUrls } from '#shared/monitoring/badges/signature.ts'
import { transferCheck } from '#shared/monitoring/operations/projects.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addKey, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { createTeam, join } from '../web/people.ts'

const TAGS = 1_200
/** as many as fit into the tags of one check */
const PER_CHECK = 80
/** Room for every address of a badge. */
const MAX_BYTES_PER_TAG = 1_500

test('a project with many tags lists each once', async (t) => {
  await using app = await openProduct({ listener: 'http', workers: [] })
  const { project, roKey } = await addProject(app.deps)
  const tags = Array.from({ length: TAGS }, (_, i) => `t${i}`)
  for (let first = 0; first < TAGS; first += PER_CHECK) {
    const text = tags.slice(first, first + PER_CHECK).join(' ')
    // Two checks each, so that every tag is met more than once.
    await addCheck(app.deps, project.id, { tags: text })
    await addCheck(app.deps, project.id, { tags: `${text} everywhere` })
  }
  const answer = await send(app.url, '/api/v3/badges/', { headers: { 'X-Api-Key': roKey } })
  t.is(answer.status, 200)
  const { badges } = jsonOf(answer) as { badges: Record<string, BadgeUrls> }
  t.deepEqual(Object.keys(badges).toSorted(), ['*', 'everywhere', ...tags].toSorted())
  t.true(answer.bytes.length < MAX_BYTES_PER_TAG * (TAGS + 2), `${answer.bytes.length} bytes`)

  const total = async (tag: string) => {
    const badge = await send(app.url, String(badges[tag]?.json).slice(app.url.length))
    return (jsonOf(badge) as { total: number }).total
  }
  t.deepEqual(await Promise.all(['t0', 't1199', 'everywhere', '*'].map(total)), [2, 2, 15, 30])
})

test('a project has at most 1,000 different tags, on every path that sets them', async (t) => {
  await using app = await openProduct({ listener: 'http', workers: [] })
  const team = await createTeam(app, 'Tagged')
  const owner = await join(app, team, 'owner')
  const { project } = team
  const rwKey = await addKey(app.deps, project.id, 'rw')
  const pingKey = await addKey(app.deps, project.id, 'ping')
  const other = await addProject(app.deps)
  for (let first = 0; first < 1_000; first += PER_CHECK) {
    const tags = Array.from({ length: Math.min(PER_CHECK, 1_000 - first) }, (_, i) => `t${first + i}`)
    await addCheck(app.deps, project.id, { tags: tags.join(' ') })
  }
  const check = await addCheck(app.deps, project.id, { tags: 't0' })
  const post = async (path: string, body: object) => {
    const answer = await send(app.url, path, {
      method: 'POST',
      headers: { 'X-Api-Key': rwKey },
      body: JSON.stringify(body),
    })
    return [answer.status, (jsonOf(answer) as { error?: string }).error]
  }
  const refused = [400, 'json validation error: tags would give the project more than 1000 different tags']
  t.deepEqual(await post('/api/v3/checks/', { tags: 'new' }), refused)
  t.deepEqual(await post('/api/v3/checks/', { tags: 't1 t999' }), [201, undefined])
  t.deepEqual(await post(`/api/v3/checks/${check.uuid}`, { tags: 't0 new' }), refused)
  t.deepEqual(await post(`/api/v3/checks/${check.uuid}`, { tags: 't5' }), [200, undefined])
  const document = { version: 1, checks: [{ uuid: check.uuid, tags: 'new' }] }
  t.deepEqual(await post('/api/v3/import?apply=1', document), refused)
  const fields = {
    name: 'x',
    tags: 'new',
    kind: 'simple',
    timeout: '1',
    timeout_unit: 'hours',
    grace: '1',
    grace_unit: 'hours',
  }
  const form = await owner.post(`/checks/${check.uuid}/edit`, fields, '/account')
  t.is(form.status, 400)
  t.true(form.text.includes('more than 1000 different tags'))
  // A ping counts in any case: its check is created without the tags.
  const ping = await send(app.url, `/ping/${pingKey}/born?create=1&tags=new`)
  t.is(ping.status, 201)
  const born = await app.db('checks').where({ project_id: project.id, slug: 'born' }).first('tags')
  t.is(born?.tags, '')
  const moved = await addCheck(app.deps, other.project.id, { tags: 'new' })
  const actor = { kind: 'key', id: 1, label: 'a', owner: 'b', address: '127.0.0.1' } as const
  const transfer = { uuid: moved.uuid, from: other.project, to: { ...other.project, id: project.id } }
  await t.throwsAsync(transferCheck(app.deps.db, actor, transfer, app.deps), {
    message: /more than 1000 different tags/,
  })
})

test('the badges page shows fifty tags at a time', async (t) => {
  await using app = await openProduct({ listener: 'http', workers: [] })
  const team = await createTeam(app, 'Badges')
  const owner = await join(app, team, 'owner')
  await addCheck(app.deps, team.project.id, { tags: Array.from({ length: 60 }, (_, i) => `t${i}`).join(' ') })
  const rows = async (query: string) => {
    const { text } = await owner.get(`/projects/${team.project.uuid}/badges${query}`)
    return text.split('class="badge-row"').length - 1
  }
  t.deepEqual(await Promise.all(['', '?page=2', '?page=99', '?page=x'].map(rows)), [50, 11, 11, 50])
})
