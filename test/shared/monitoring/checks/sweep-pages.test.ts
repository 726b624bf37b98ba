import test from 'ava'
import { OVERDUE_PAGE, type Swept, sweepOverdue, sweepPages } from '#shared/monitoring/checks/overdue-store.ts'
import { nowMicros } from '#shared/time.ts'
import { openProduct } from '../../../support/product.ts'

test('two concurrent pages bring each overdue check down once', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const overdue = 3 * OVERDUE_PAGE + 17
  await db.raw("INSERT INTO organisations (name) VALUES ('o')")
  await db.raw("INSERT INTO projects (organisation_id, name) SELECT max(id), 'p' FROM organisations")
  await db.raw(
    `INSERT INTO checks (project_id, status, alert_after)
     SELECT (SELECT max(id) FROM projects), 'up', now() + CASE WHEN n <= ? THEN -n ELSE n END * interval '1 second'
     FROM generate_series(1, ?::int) n`,
    [overdue, overdue + 1_000],
  )
  const before = nowMicros()
  const pages: Swept[] = []
  await sweepPages(
    () => sweepOverdue(db, before, { answered: [0], total: 1 }),
    (swept) => pages.push(swept),
  )
  const down = pages.flatMap((page) => page.down)
  t.is(down.length, overdue)
  t.is(new Set(down).size, overdue)
  const { rows } = await db.raw(
    `SELECT (SELECT count(*)::int FROM flips) AS flips, (SELECT count(DISTINCT check_id)::int FROM flips) AS flipped,
       (SELECT count(*)::int FROM checks WHERE status = 'down') AS down, (SELECT count(*)::int FROM check_deadlines) AS deadlines`,
  )
  t.deepEqual(rows, [{ flips: overdue, flipped: overdue, down: overdue, deadlines: 1_000 }])
})

const page = (evaluated: number): Swept => ({ evaluated, messages: [], down: [], extended: [] })

test('a partial page is the last one, and at most two pages run at once', async (t) => {
  let requested = 0
  await sweepPages(
    async () => {
      requested++
      return page(3)
    },
    () => {},
  )
  t.is(requested, 1)
  let left = 7
  let under = 0
  let most = 0
  await sweepPages(
    async () => {
      most = Math.max(most, ++under)
      await new Promise((resolve) => setImmediate(resolve))
      under--
      return page(left-- > 0 ? OVERDUE_PAGE : 0)
    },
    () => {},
  )
  t.is(most, 2)
  t.is(left, -2, 'each of the two queries returned a partial page')
})

test('a failed page is reported after the other pages ended', async (t) => {
  let requested = 0
  const second = Promise.withResolvers<void>()
  const ended: string[] = []
  const work = sweepPages(
    async () => {
      requested++
      if (requested === 1) return page(OVERDUE_PAGE)
      if (requested === 2) throw new Error('the database is away')
      await second.promise
      ended.push('the other page')
      return page(0)
    },
    () => {},
  ).catch((error: Error) => ended.push(error.message))
  await new Promise((resolve) => setImmediate(resolve))
  t.deepEqual(ended, [])
  second.resolve()
  await work
  t.deepEqual(ended, ['the other page', 'the database is away'])
})
