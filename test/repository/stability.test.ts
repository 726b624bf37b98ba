import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { z } from 'zod'
import { runCommand } from '../../stack/run-command.ts'
import { root } from '../support/imports.ts'
import { brokenPromises, type Contract, type JsonSchema, partsOf } from './contract.ts'
import { CONTRACT_FILE, contractOf, currentContract, ofThisTree } from './surfaces.ts'

const NOT_COMPARED = 'NOT COMPARED: no release of this major version has a tag here'

test.before(async () => {
  if (process.env.WRITE_CONTRACT) await writeFile(join(root, CONTRACT_FILE), textOf(await currentContract()))
})

/** Returns the newest tag of this major version; null without one. */
async function lastRelease(): Promise<string | null> {
  const [major] = JSON.parse(await ofThisTree('package.json')).version.split('.')
  const { code, stdout } = await runCommand(
    ['git', 'describe', '--tags', '--abbrev=0', '--match', `v${major}.*`, 'HEAD'],
    { cwd: root },
  )
  return code === 0 ? stdout.trim() : null
}

test('nothing that the last release promised is missing or narrower', async (t) => {
  const now = await contractOf(ofThisTree)
  for (const [kind, count] of Object.entries({
    'GET /': 100,
    'setting ': 50,
    'metric ': 50,
    'command ': 50,
    'tool ': 20,
  })) {
    t.true(Object.keys(now).filter((name) => name.startsWith(kind)).length > count, kind)
  }
  t.deepEqual(brokenPromises(now, now), [])
  const tag = await lastRelease()
  if (tag === null) {
    t.log(NOT_COMPARED)
    return
  }
  const released = await contractOf(async (path) => {
    const { code, stdout, stderr } = await runCommand(['git', 'show', `${tag}:${path}`], { cwd: root })
    if (code !== 0) throw new Error(stderr)
    return stdout
  })
  t.deepEqual(brokenPromises(released, now), [], `broken since ${tag}`)
})

test('the contract of commands, tools, webhooks and files is committed (WRITE_CONTRACT=1 stores it)', async (t) => {
  t.is(await ofThisTree(CONTRACT_FILE), textOf(await currentContract()))
})

/** Formats one part per line. */
function textOf(contract: Contract): string {
  const list = (entries: [string, unknown][], shown: (value: unknown) => string) =>
    entries.length === 0
      ? '{}'
      : `{\n${entries.map(([name, value]) => `${JSON.stringify(name)}: ${shown(value)}`).join(',\n')}\n}`
  const entry = (value: unknown) =>
    list(Object.entries(value ?? {}), (parts) => list(Object.entries(parts ?? {}), (part) => JSON.stringify(part)))
  return `${list(Object.entries(contract), entry)}\n`
}

test('a removed operation, status, parameter, member, setting, metric, command or file is named', async (t) => {
  const before = await contractOf(ofThisTree)
  const removals: [path: string, pattern: RegExp, sentence: RegExp][] = [
    ['docs/openapi.json', /"\/api\/v3\/channels\/"/, /^GET \/api\/v3\/channels\/ is missing$/],
    ['docs/openapi.json', /"429"/, /^GET \/v1\/\S+: 429 is no longer returned$/],
    ['docs/openapi.json', /"name": "slug"/, /: query slug is no longer accepted$/],
    ['docs/openapi.json', /"n_pings"/, /: 200 application\/json\S*\.n_pings is no longer returned$/],
    ['docs/settings.md', /`PING_LOG_LIMIT`/, /^setting PING_LOG_LIMIT is missing$/],
    [
      'shared/platform/process/metrics.ts',
      /signalbox_pings_accepted_total/,
      /^metric signalbox_pings_accepted_total is missing$/,
    ],
    [CONTRACT_FILE, /"command key rotate"/, /^command key rotate is missing$/],
    [CONTRACT_FILE, /"--kind"/, /^command key create: --kind is no longer accepted$/],
    [CONTRACT_FILE, /"exit status 3 of admin"/, /^exit status 3 of admin is missing$/],
    [CONTRACT_FILE, /"tool check_flips"/, /^tool check_flips is missing$/],
    [CONTRACT_FILE, /"event kyb.completed"/, /^event kyb.completed is missing$/],
    [CONTRACT_FILE, /"x-signature"/, /^webhook headers: x-signature is no longer returned$/],
    [CONTRACT_FILE, /"daysToDue"/, /^file tape.csv of a cut: daysToDue is no longer returned$/],
    [CONTRACT_FILE, /"data\/proof.txt"/, /^BagIt package of a cut: data\/proof.txt is no longer returned$/],
  ]
  const after = await contractOf(async (path) => {
    const patterns = removals.filter(([file]) => file === path).map(([, pattern]) => new RegExp(pattern, 'g'))
    const rename = (found: string) => found.replace(/\w+(?=\W*$)/, 'gone')
    return patterns.reduce((text, pattern) => text.replaceAll(pattern, rename), await ofThisTree(path))
  })
  const broken = brokenPromises(before, after)
  for (const [, pattern, sentence] of removals) {
    t.true(
      broken.some((problem) => sentence.test(problem)),
      String(pattern),
    )
  }
})

const before = z.object({
  kind: z.enum(['sms', 'call']),
  name: z.string().max(100).optional(),
  limit: z.number().min(1).optional(),
  tags: z.array(z.object({ id: z.string(), color: z.string().optional() })),
  state: z.enum(['up', 'down']),
  version: z.literal(1),
})
const base = before.shape
const [tag] = [base.tags.element.shape]

/** Each change with its sentences as input and as output. */
const changes: Record<string, { to: object; accepted: string[]; returned: string[] }> = {
  'an optional member is added': { to: { note: z.string().optional() }, accepted: [], returned: [] },
  'a required member is added': { to: { note: z.string() }, accepted: ['note is now required'], returned: [] },
  'a required member is added to an item': {
    to: { tags: z.array(z.object({ ...tag, order: z.int() })) },
    accepted: ['tags[].order is now required'],
    returned: [],
  },
  'a member is removed': {
    to: { limit: undefined },
    accepted: ['limit is no longer accepted'],
    returned: ['limit is no longer returned'],
  },
  'a member of an item is removed': {
    to: { tags: z.array(z.object({ id: z.string() })) },
    accepted: ['tags[].color is no longer accepted'],
    returned: ['tags[].color is no longer returned'],
  },
  'a member becomes optional': {
    to: { kind: base.kind.optional() },
    accepted: [],
    returned: ['kind may now be missing'],
  },
  'a member becomes required': { to: { name: z.string().max(100) }, accepted: ['name is now required'], returned: [] },
  'a member becomes nullable': {
    to: { state: base.state.nullable() },
    accepted: [],
    returned: ['state may now be null'],
  },
  'a number becomes an integer': {
    to: { limit: z.int().min(1).optional() },
    accepted: ['limit no longer accepts number'],
    returned: [],
  },
  'a type changes': {
    to: { limit: z.string().optional() },
    accepted: ['limit no longer accepts number'],
    returned: ['limit may now be string'],
  },
  'a value is added': { to: { state: z.enum(['up', 'down', 'late']) }, accepted: [], returned: [] },
  'a value is removed': { to: { kind: z.enum(['sms']) }, accepted: ['kind no longer accepts call'], returned: [] },
  'a free text becomes a list of values': {
    to: { name: z.enum(['a', 'b']).optional() },
    accepted: ['name accepts only a, b'],
    returned: [],
  },
  'a constant changes': {
    to: { version: z.literal(2) },
    accepted: ['version no longer accepts 1'],
    returned: ['version is no longer always 1'],
  },
  'a limit becomes narrower': {
    to: { name: z.string().max(50).optional(), limit: z.number().min(2).optional() },
    accepted: ['name has the maxLength 50, before 100', 'limit has the minimum 2, before 1'],
    returned: [],
  },
  'a limit becomes wider': { to: { name: z.string().max(200).optional() }, accepted: [], returned: [] },
  'a text gets a pattern': {
    to: { name: z.string().max(100).regex(/^a/).optional() },
    accepted: ['name has the pattern ^a, before none'],
    returned: [],
  },
}

for (const [change, { to, accepted, returned }] of Object.entries(changes)) {
  test(`a client notices or tolerates that ${change}`, (t) => {
    const shape = Object.fromEntries(Object.entries({ ...base, ...to }).filter(([, schema]) => schema !== undefined))
    const contract = (schema: z.ZodType): Contract => {
      const parts = partsOf(z.toJSONSchema(schema) as JsonSchema)
      return { input: { accepts: parts }, output: { returns: parts } }
    }
    const expected = [...accepted.map((text) => `input: ${text}`), ...returned.map((text) => `output: ${text}`)]
    t.deepEqual(brokenPromises(contract(before), contract(z.object(shape))), expected)
  })
}

test('members of alternatives and of references are compared', (t) => {
  const answer = (members: JsonSchema): Contract => {
    const properties = { id: { type: 'string' } }
    const alternatives = [{ $ref: '#/components/schemas/Found' }, { type: 'object', properties, required: ['id'] }]
    return {
      read: { returns: partsOf({ anyOf: [...alternatives, { type: 'null' }] }, { schemas: { Found: members } }) },
    }
  }
  const found = { type: 'object', properties: { id: { type: 'string' }, next: { $ref: '#/components/schemas/Found' } } }
  const required = answer({ ...found, required: ['id'] })
  t.deepEqual(brokenPromises(required, required), [])
  t.deepEqual(brokenPromises(required, answer(found)), ['read: id may now be missing'])
  t.deepEqual(brokenPromises(required, answer({ type: 'object' })), [
    'read: id may now be missing',
    'read: next is no longer returned',
  ])
})

test('a changed annotation of a tool is named', async (t) => {
  const now = await currentContract()
  const name = 'tool check_flips'
  const tool = now[name]
  const annotation = { 'annotation readOnlyHint': { types: ['boolean'], values: ['false'] } }
  t.deepEqual(brokenPromises(now, { ...now, [name]: { ...tool, returns: { ...tool?.returns, ...annotation } } }), [
    'tool check_flips: annotation readOnlyHint is no longer always true',
  ])
})

test('no migration of the last release was changed or removed', async (t) => {
  const tag = await lastRelease()
  if (tag === null) {
    t.log(NOT_COMPARED)
    t.pass()
    return
  }
  const changed = await runCommand(['git', 'diff', '--name-only', '--diff-filter=a', tag, '--', 'migrations'], {
    cwd: root,
  })
  t.deepEqual(changed, { code: 0, stdout: '', stderr: '' }, `changed since ${tag}`)
})
