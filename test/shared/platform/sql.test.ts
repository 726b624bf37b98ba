import test from 'ava'
import type { Knex } from 'knex'
import { microsOf } from '#shared/platform/database/instants.ts'
import { columns, query, typed } from '#shared/platform/database/sql.ts'

interface Job {
  id: number
  nextAt: number | null
}

const JOB_COLUMNS = columns<Job>({ id: 'j.id', nextAt: 'j.next_at' })
const NAME_COLUMNS = columns<{ name: string }>({ name: 'name' })
const LISTED_COLUMNS = columns<Job & { day: string; at: number }>()(`
  j.id, next_at, to_char(j.at, 'YYYY, (MM') AS day, ${microsOf('j.at')} AS at`)

/** Is compiled but not run. The type check fails if a line after `@ts-expect-error` compiles. */
async function compiled(db: Knex): Promise<unknown[]> {
  // @ts-expect-error nextAt is missing
  columns<Job>({ id: 'id' })
  // @ts-expect-error name is not a key of the row
  columns<Job>({ id: 'id', nextAt: 'next_at', name: 'name' })
  // @ts-expect-error nextAt is missing
  columns<Job>()('id')
  // @ts-expect-error name is not a key of the row
  columns<Job>()('id, next_at, name')
  // @ts-expect-error id is listed twice
  columns<Job>()('id, next_at, j.id')
  // @ts-expect-error the expression has no name
  columns<Job>()('id, coalesce(next_at, 0)')
  const jobs: Job[] = await query(db, typed`SELECT ${JOB_COLUMNS} FROM jobs j`)
  const named: (Job & { name: string })[] = await query(db, typed`SELECT ${JOB_COLUMNS}, ${NAME_COLUMNS} FROM jobs j`)
  // @ts-expect-error the list has no name
  const missing: { name: string }[] = await query(db, typed`SELECT ${JOB_COLUMNS} FROM jobs j`)
  // @ts-expect-error a type on the left does not decide the type of the rows
  const unchecked: Job[] = await query(db, 'SELECT id FROM jobs')
  // @ts-expect-error a statement without a column list has no row type
  const untyped: Job[] = await query(db, typed`SELECT id FROM ${'jobs'}`)
  return [jobs, named, missing, unchecked, untyped]
}

test('names each column of a list by its key', (t) => {
  t.is(JOB_COLUMNS as string, 'j.id AS "id", j.next_at AS "nextAt"')
  t.is(NAME_COLUMNS as string, 'name')
})

test('reads a column list from text, with names in camel case', (t) => {
  t.is(
    LISTED_COLUMNS as string,
    `j.id AS "id", next_at AS "nextAt", to_char(j.at, 'YYYY, (MM') AS "day", ${microsOf('j.at')} AS "at"`,
  )
})

test('requires that a row type equals its column list', (t) => {
  t.is(typeof compiled, 'function')
})

test('inserts column lists and other text into a statement, each time', (t) => {
  const listed = (limit: number) => typed`SELECT ${NAME_COLUMNS} FROM jobs LIMIT ${limit}` as string
  t.is(listed(2), 'SELECT name FROM jobs LIMIT 2')
  t.is(listed(2), 'SELECT name FROM jobs LIMIT 2')
  t.is(listed(3), 'SELECT name FROM jobs LIMIT 3')
})
