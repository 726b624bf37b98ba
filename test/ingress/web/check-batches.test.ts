import test from 'ava'
import { microsOfMillis, toIsoSeconds } from '#shared/time.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'
import { createTeam, join } from './people.ts'

test('a row, the wall and a check page contain the time of their next change', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Acme')
  const { project } = team
  const { id, uuid } = await addCheck(app.deps, project.id, { name: 'job', timeoutSeconds: 3600, graceSeconds: 600 })
  const owner = await join(app, team, 'owner')
  const path = `/projects/${project.uuid}/checks`
  const pinged = (minutesAgo: number) => {
    const at = Math.floor(Date.now() / 1000) * 1000 - minutesAgo * 60_000
    return app.deps
      .db('checks')
      .where({ id })
      .update({ status: 'up', n_pings: 1, last_ping: new Date(at), alert_after: new Date(at + 4_200_000) })
      .then(() => (afterMs: number) => `data-next-change="${toIsoSeconds(microsOfMillis(at + afterMs))}"`)
  }
  const late = await pinged(30)
  for (const page of [path, `${path}?wall=1`, `/checks/${uuid}`]) {
    t.true((await owner.get(page)).text.includes(late(3_600_000)), `${page}: time at which it becomes late`)
  }
  const down = await pinged(65)
  for (const page of [path, `${path}?wall=1`, `/checks/${uuid}`]) {
    t.true((await owner.get(page)).text.includes(down(4_200_000)), `${page}: time at which it goes down`)
  }
  await app.deps.db('checks').where({ id }).update({ status: 'paused', alert_after: null })
  for (const page of [path, `/checks/${uuid}`]) t.false((await owner.get(page)).text.includes('data-next-change'), page)
})
