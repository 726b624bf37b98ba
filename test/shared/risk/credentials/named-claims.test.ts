import test from 'ava'
import type { JsonObject } from '#shared/canonical/parse-json.ts'
import { PresentationQuery } from '#shared/risk/credentials/query.ts'
import { namedClaims, selectClaims } from '#shared/risk/credentials/select-claims.ts'
import { effort } from '../../../support/effort.ts'
import { randomOf } from '../../../support/random.ts'

type Path = (string | number | null)[]

const queryOf = (credentials: { id: string; paths: Path[]; multiple?: boolean }[]) =>
  PresentationQuery.parse({
    credentials: credentials.map(({ id, paths, multiple }) => ({
      id,
      format: 'dc+sd-jwt',
      meta: { vct_values: ['https://credentials.example/x'] },
      claims: paths.map((path) => ({ path })),
      ...(multiple === undefined ? {} : { multiple }),
    })),
  })

/** Returns the named values of presentations, each of the credential at its index. */
function named(query: PresentationQuery, presented: [index: number, claims: JsonObject][]) {
  const answers = presented.flatMap(([index, claims]) => {
    const credential = query.credentials[index]
    return credential ? [{ query: credential, selected: selectClaims(claims, credential) }] : []
  })
  return Object.fromEntries(namedClaims(query, answers))
}

test('claims of equal names from two credentials are both returned', (t) => {
  const query = queryOf([
    { id: 'company', paths: [['name']] },
    { id: 'person', paths: [['name']] },
  ])
  const claims = named(query, [
    [0, { name: 'Synthetic Works' }],
    [1, { name: 'Test Person' }],
  ])
  t.deepEqual(claims, { '["company",0,"name"]': 'Synthetic Works', '["person",0,"name"]': 'Test Person' })
})

test('several presentations, dotted names and literal asterisks keep every value', (t) => {
  const several = queryOf([{ id: 'a', paths: [['name']], multiple: true }])
  t.deepEqual(named(several, [[0, { name: 'x' }]]), { name: 'x' })
  t.deepEqual(
    named(several, [
      [0, { name: 'x' }],
      [0, { name: 'y' }],
    ]),
    { '["a",0,"name"]': 'x', '["a",1,"name"]': 'y' },
  )
  const dotted = queryOf([{ id: 'a', paths: [['b.c'], ['b', 'c']] }])
  t.deepEqual(named(dotted, [[0, { 'b.c': 1, b: { c: 2 } }]]), { '["a",0,"b.c"]': 1, '["a",0,"b","c"]': 2 })
  const starred = queryOf([
    { id: 'a', paths: [['l', null]] },
    { id: 'b', paths: [['l', '*']] },
  ])
  t.deepEqual(
    named(starred, [
      [0, { l: [1, 2] }],
      [1, { l: { '*': 3 } }],
    ]),
    { '["a",0,"l",null]': [1, 2], '["b",0,"l","*"]': 3 },
  )
})

test('unique names stay dotted, and no query loses a value', (t) => {
  const below = randomOf(7).int
  const parts = ['a', 'b', 'a.b', '*', 'c']
  for (let round = 0; round < effort(1_000, 10_000); round++) {
    const credentials = Array.from({ length: 1 + below(3) }, (_, index) => ({
      id: `q${index}`,
      paths: Array.from({ length: 1 + below(3) }, () =>
        Array.from({ length: 1 + below(2) }, () => parts[below(parts.length)] ?? 'a'),
      ),
    }))
    const query = queryOf(credentials)
    const answers = query.credentials.flatMap((credential, at) =>
      Array.from({ length: 1 + below(2) }, (_, presentation) => ({
        query: credential,
        selected: credential.claims.map(({ path }) => ({
          path,
          value: `${at}/${presentation}/${JSON.stringify(path)}`,
        })),
      })),
    )
    const values = new Set(answers.flatMap(({ selected }) => selected.map(({ value }) => value)))
    const claims = namedClaims(query, answers)
    t.deepEqual(new Set(claims.values()), values, JSON.stringify(credentials))
    const names = new Set(answers.flatMap(({ selected }) => selected.map(({ path }) => path.join('.'))))
    if (names.size === values.size) t.true([...claims.keys()].every((name) => names.has(name)))
  }
})
