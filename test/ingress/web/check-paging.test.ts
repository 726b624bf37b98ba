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
  test(`a list sorted by ${sort} has links to the next and previous page`, async (t) => {
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
    t.deepEqual((await open(back.next ?? '')).uuids, third.uuids, 'the next link after going back')
    const start = await open(back.previous ?? '')
    t.deepEqual([start.uuids, start.where, start.previous], [first.uuids, first.where, undefined], sort)
  })
}

test('names are listed by the numbers in them, also across pages', async (t) => {
  const team = await createTeam(app, 'Numbers')
  const numbers = Array.from({ length: 70 }, (_, n) => n + 1)
  // A name that begins with a number must not join the digits of the state.
  const names = [...numbers.map((n) => `check ${n}`), '10 minutes', '9 minutes', 'Check 0']
  await Promise.all(names.map((name) => addCheck(app.deps, team.project.id, { name, tags: '2024' })))
  await app.deps.db('checks').where({ project_id: team.project.id, name: 'check 70' }).update({ status: 'down' })
  const visitor = await join(app, team, 'owner')
  const wanted = ['9 minutes', '10 minutes', 'Check 0', ...numbers.slice(0, -1).map((n) => `check ${n}`)]
  for (const [sort, expected] of [
    ['name', [...wanted, 'check 70']],
    ['status', ['check 70', ...wanted]],
    ['tag', ['check 70', ...wanted]],
  ] as const) {
    const first = (await visitor.get(`/projects/${team.project.uuid}/checks?sort=${sort}`)).text
    const [, next = ''] = /<a href="([^"]+)" rel="next"/.exec(first) ?? []
    const second = (await visitor.get(next.replaceAll('&amp;', '&'))).text
    const shown = [first, second].flatMap((text) => [...text.matchAll(/class="c-name[^>]*>[\s\S]*?<a [^>]*>([^<]*)</g)])
    t.deepEqual(
      shown.map(([, name]) => name),
      expected,
      sort,
    )
  }
})

test('the wall orders checks by state, and inside a state by the numbers in their names', async (t) => {
  const team = await createTeam(app, 'Wall')
  const names = ['check 10', 'check 2', 'Check 1', 'check 30', 'check 4', 'check 3']
  await Promise.all(names.map((name) => addCheck(app.deps, team.project.id, { name })))
  const own = () => app.deps.db('checks').where({ project_id: team.project.id })
  await own().whereIn('name', ['check 30', 'check 4']).update({ status: 'down' })
  const visitor = await join(app, team, 'owner')
  const { text } = await visitor.get(`/projects/${team.project.uuid}/checks?wall=1`)
  const shown = [...text.matchAll(/class="wall-tile[^>]*>[\s\S]*?<b>([^<]*)</g)].map(([, name]) => name)
  t.deepEqual(shown, ['check 4', 'check 30', 'Check 1', 'check 2', 'check 3', 'check 10'])
})
