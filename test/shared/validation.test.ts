import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { z } from 'zod'
import { FIELD_CODES } from '#shared/field-codes.ts'
import { checkValue, fieldErrors, pathText, rule } from '#shared/validation.ts'
import { tools } from '../../ingress/mcp/tools.ts'
import { documentedRoutes } from '../../ingress/openapi.ts'
import { root } from '../support/imports.ts'

/** Returns the problems of a value: path, code and problem in one line each. */
function faultsOf(schema: z.ZodType, value: unknown): string[] {
  const checked = checkValue(schema, value)
  return checked.ok ? [] : checked.faults.map(({ path, code, problem }) => `${path} ${code} ${problem}`.trim())
}

const step = z.strictObject({ wait: z.int().min(0).max(86_400), outside: z.enum(['wait', 'skip']).optional() })
const shape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('A'), a: z.string() }),
  z.strictObject({ kind: z.literal('B'), b: z.string() }),
])

const cases: [kind: string, schema: z.ZodType, value: unknown, faults: string[]][] = [
  ['a missing member', z.object({ a: z.string() }), {}, ['a REQUIRED is required']],
  ['a missing choice', z.object({ a: z.enum(['x', 'y']) }), {}, ['a REQUIRED is required']],
  ['another type', z.string(), 1, ['TYPE must be a string']],
  ['null', z.object({ a: z.boolean() }), { a: null }, ['a TYPE must be true or false']],
  ['a fraction', z.int(), 1.5, ['TYPE must be a whole number']],
  ['a list', z.object({}), [], ['TYPE must be an object']],
  ['no list', z.tuple([z.string()]), {}, ['TYPE must be an array']],
  [
    'a nested member',
    z.object({ steps: z.array(step) }),
    { steps: [{ wait: -1 }] },
    ['steps[0].wait TOO_SMALL must be at least 0'],
  ],
  ['a large number', z.number().max(5), 6, ['TOO_LARGE must be at most 5']],
  ['an exclusive limit', z.number().gt(5), 5, ['TOO_SMALL must be above 5']],
  ['a long text', z.string().max(3), 'abcd', ['TOO_LARGE must have at most 3 characters']],
  ['an empty text', z.string().min(1), '', ['TOO_SMALL must not be empty']],
  ['a text of another length', z.string().length(2), 'a', ['TOO_SMALL must have exactly 2 characters']],
  ['too many elements', z.array(z.string()).max(1), ['a', 'b'], ['TOO_MANY must have at most 1 element']],
  ['too few elements', z.array(z.string()).min(2), ['a'], ['TOO_FEW must have at least 2 elements']],
  ['a choice', step, { wait: 0, outside: 'x' }, ['outside UNKNOWN_VALUE must be one of wait, skip']],
  ['a literal', z.literal(true), false, ['UNKNOWN_VALUE must be true']],
  ['a pattern', z.string().regex(/^a$/), 'b', ['FORMAT must match /^a$/']],
  ['a pattern with a message', z.string().regex(/^a$/, 'must be the letter a'), 'b', ['FORMAT must be the letter a']],
  ['a UUID', z.uuid(), 'x', ['FORMAT must be a UUID']],
  ['a date', z.iso.date(), 'x', ['FORMAT must be a date YYYY-MM-DD']],
  [
    'a time',
    z.iso.datetime({ offset: true }),
    'x',
    ['FORMAT must be a date and time with an offset, for example 2026-05-01T09:30:00Z'],
  ],
  ['a URL', z.url(), 'x', ['FORMAT must be a URL']],
  ['another form', z.jwt(), 'x', ['FORMAT does not have the required form']],
  ['a multiple', z.number().multipleOf(5), 6, ['FORMAT must be a multiple of 5']],
  ['an unknown member', z.strictObject({}), { b: 1 }, ['b UNKNOWN_FIELD is not a known member']],
  [
    'a name',
    z.record(z.string().regex(/^a$/, 'must be the letter a'), z.string()),
    { b: 'x' },
    ['b FORMAT as a name must be the letter a'],
  ],
  ['a set', z.set(z.string()), new Set([1]), ['TYPE must be a string']],
  ['a rule', z.string().refine(() => false, rule('DUPLICATE', 'names one twice')), 'x', ['DUPLICATE names one twice']],
  ['a rule without a text', z.string().refine(() => false), 'x', ['FORMAT is not valid']],
  ['two types', z.union([z.string(), z.int()]), true, ['TYPE must be a string or a number']],
  ['two forms', z.union([z.iso.date(), z.uuid()]), 'x', ['FORMAT must be a date YYYY-MM-DD or a UUID']],
  [
    'a nested union',
    z.object({ a: z.union([z.string(), z.array(z.string()).min(1)]) }),
    { a: [] },
    ['a TOO_FEW must not be empty'],
  ],
  [
    'the closest form',
    z.union([z.strictObject({ a: z.string(), b: z.string() }), z.strictObject({ c: z.string() })]),
    { a: 1, b: 'x' },
    ['a TYPE must be a string'],
  ],
  ['an unknown kind', shape, { kind: 'C' }, ['kind UNKNOWN_VALUE must be one of A, B']],
  ['no kind', shape, {}, ['kind REQUIRED must be one of A, B']],
]

for (const [kind, schema, value, faults] of cases)
  test(`describes ${kind} in plain words`, (t) => {
    t.deepEqual(faultsOf(schema, value), faults)
  })

test('lists at most 100 unknown members, and shortens their names', (t) => {
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`${'x'.repeat(200)}${index}`, 1]))
  const faults = faultsOf(z.strictObject({}), many)
  t.is(faults.length, 100)
  t.is(faults[0], `${'x'.repeat(100)} UNKNOWN_FIELD is not a known member`)
})

test('names the member, or the whole value, in each message', (t) => {
  const checked = checkValue(z.object({ a: z.string() }), { a: 1 })
  t.deepEqual(checked.ok ? [] : fieldErrors(checked.faults, 'the body'), [
    { path: 'a', code: 'TYPE', message: 'a must be a string' },
  ])
  const whole = checkValue(z.object({}), 'x')
  t.deepEqual(whole.ok ? [] : fieldErrors(whole.faults, 'the body')[0]?.message, 'the body must be an object')
  t.is(pathText(['policy', 'steps', 0, 'wait']), 'policy.steps[0].wait')
})

const codes = new Set<string>(Object.values(FIELD_CODES).flat())
const wrongValues = [
  null,
  '',
  'x',
  '\u0000',
  'x'.repeat(100_000),
  0,
  -1,
  0.5,
  1e300,
  true,
  [],
  {},
  [[]],
  { '': 1 },
  ['x', 'x'],
]

/** Returns a value of the shape of a schema, with a wrong value in place of every leaf. */
function filled(schema: z.core.$ZodType, wrong: unknown): unknown {
  const def: object & { innerType?: unknown; in?: unknown; options?: unknown } = schema._zod.def
  const inner = (def.innerType ?? def.in ?? (Array.isArray(def.options) ? def.options.at(-1) : undefined)) as
    | z.core.$ZodType
    | undefined
  if (inner) return filled(inner, wrong)
  if (schema instanceof z.ZodObject) {
    return Object.fromEntries(Object.entries(schema.shape).map(([name, member]) => [name, filled(member, wrong)]))
  }
  return schema instanceof z.ZodArray ? [filled(schema.element, wrong)] : wrong
}

test('no text of the schema library reaches a caller, whichever value a request has', (t) => {
  const schemas = [
    ...documentedRoutes.flatMap(({ operationId, query, headers, body }) =>
      [query, headers, ...Object.values(body?.content ?? {})].flatMap((schema) =>
        schema ? [{ operationId, schema }] : [],
      ),
    ),
    ...tools.map(({ name, input }) => ({ operationId: name, schema: input })),
  ]
  t.true(schemas.length > 100)
  let faults = 0
  for (const { operationId, schema } of schemas) {
    for (const value of wrongValues.flatMap((wrong) => [wrong, filled(schema, wrong), { ...wrongValues }])) {
      const checked = checkValue(schema, value)
      for (const { code, problem } of checked.ok ? [] : checked.faults) {
        faults++
        t.true(codes.has(code), `${operationId}: ${code}`)
        t.notRegex(
          problem,
          /^(?:Too |Invalid|Unrecognized|Expected)|expected .*received|undefined|\bNaN\b/,
          operationId,
        )
        t.regex(problem, /^(?:must|is|has|does|starts|names|as a name|leads|cannot|uses|or) ?/, operationId)
      }
    }
  }
  t.true(faults > 5_000, `${faults}`)
})

test('the documented codes are those that occur', (t) => {
  const document = readFileSync(join(root, 'docs/spec/risk-signals.md'), 'utf8')
  const [, section = ''] = /^## Validation codes\n([\s\S]*?)^## /m.exec(document) ?? []
  const firstColumn = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = '']) => cell).join(' ')
  const documented = [...firstColumn.matchAll(/\b[A-Z][A-Z_]{2,}\b/g)].map(([code]) => code)
  t.deepEqual(documented.toSorted(), [...codes].toSorted())
})
