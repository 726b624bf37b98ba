import test from 'ava'
import { checkSorts } from '#shared/monitoring/pages/check-list.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join } from './people.ts'

const CHECKS = 120

let app: HttpProduct
let owner: Awaited<ReturnType<typeof join>>
let list = ''

test.before(async () => {
  app = await sharedProduct()
  const team = await createTeam(app, 'Acme')
  list = `/projects/${team.project.uuid}/checks`
  const names = Array.from({ length: CHECKS }, (_, n) => ({ name: `job ${n % 7}`, tags: n % 3 === 0 ? 'prod' : '' }))
  await Promise.all(names.map((check) => addCheck(app.deps, team.project.id, check)))
  await app.deps.db('checks').where({ name: 'job 3' }).update({ status: 'down' })
  owner = await join(app, team, 'owner')
})

for (const sort of checkSorts) {
  test(`a list of three pages by ${sort} can be paged to its end and back, and shows the position`, async (t) => {
    const open = async (path: string) => {
      const { text, status } = await owner.get(path)
      t.is(status, 200)
      const link = (rel: string) =>
        new RegExp(`<a href="([^"]+)" rel="${rel}"`).exec(text)?.[1]?.replaceAll('&amp;', '&')
      const uuids = [...new Set([...text.matchAll(/\/checks\/([0-9a-f-]{36})/g)].map(([, uuid]) => uuid))]
      return { uuids, next: link('next'), previous: link('prev'), where: /\d+–\d+ of \d+/.exec(text)?.[0] }
    }
    const first = await open(`${list}?sort=${sort}`)
    t.is(first.previous, undefined)
    const second = await open(first.next ?? '')
    const third = await open(second.next ?? '')
    t.is(third.next, undefined)
    t.deepEqual([first.where, second.where, third.where], ['1–50 of 120', '51–100 of 120', '101–120 of 120'], sort)
    t.is(new Set([...first.uuids, ...second.uuids, ...third.uuids]).size, CHECKS, sort)
    const back = await open(third.previous ?? '')
    t.deepEqual([back.uuids, back.where], [second.uuids, second.where], sort)
    t.deepEqual((await open(back.next ?? '')).uuids, third.uuids, 'and on again')
    const start = await open(back.previous ?? '')
    t.deepEqual([start.uuids, start.where, start.previous], [first.uuids, first.where, undefined], sort)
  })
}
