import test from 'ava'
import type { BadgeUrls } from '#shared/monitoring/badges/urls.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'

const TAGS = 2_000
/** as many as fit into the tags of one check */
const PER_CHECK = 80
/** Room for every address of a badge. */
const MAX_BYTES_PER_TAG = 1_500

test('B27: a project with two thousand tags lists each once, and its size is that of its tags', async (t) => {
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
  t.deepEqual(await Promise.all(['t0', 't1999', 'everywhere', '*'].map(total)), [2, 2, 25, 50])
})
