import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { openProduct } from '../support/product.ts'
import { addProject } from '../support/projects.ts'
import { send } from '../support/send.ts'

const POOL = 3

test('imports that wait for the lock of their project leave connections to others', async (t) => {
  await using app = await openProduct({ listener: 'http', workers: [], env: { DB_POOL: String(POOL) } })
  const [busy, other] = [await addProject(app.deps), await addProject(app.deps)]
  const start = () =>
    send(app.url, '/api/v3/import?apply=1', {
      method: 'POST',
      headers: { 'X-Api-Key': busy.rwKey },
      body: JSON.stringify({ checks: [] }),
    })
  const imports = await app.db.transaction(async (tx) => {
    await tx('projects').where({ id: busy.project.id }).forUpdate().first('id')
    const started = Array.from({ length: POOL * 3 }, start)
    await eventually('an import to wait for the lock', async () => {
      // Within a transaction PostgreSQL reads the activity only once.
      await tx.raw('SELECT pg_stat_clear_snapshot()')
      const { rows } = await tx.raw(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      )
      return rows.length > 0
    })
    for (let n = 0; n < POOL * 3; n++) {
      const answer = await send(app.url, '/api/v3/checks/', { headers: { 'X-Api-Key': other.rwKey } })
      t.is(answer.status, 200, answer.text)
    }
    return started
  })
  t.deepEqual([...new Set((await Promise.all(imports)).map(({ status }) => status))], [200])
})
