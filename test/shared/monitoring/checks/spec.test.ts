import { readFileSync } from 'node:fs'
import test from 'ava'
import { readRecurring } from '#shared/monitoring/alerting/fields.ts'
import { resolveIntegrations } from '#shared/monitoring/checks/integrations-field.ts'
import { parseJsonBody } from '#shared/monitoring/checks/json-body.ts'
import { creationSettings, NO_PROVISIONING, readProvisioning } from '#shared/monitoring/checks/provisioning.ts'
import { applySpec, DEFAULT_SETTINGS, uniqueCriteria } from '#shared/monitoring/checks/settings.ts'
import { type CheckSpec, parseCheckSpec } from '#shared/monitoring/checks/spec.ts'
import { parseFlipFilters } from '#shared/monitoring/flips/filters.ts'
import { parsePingPath, parsePingQuery } from '#shared/monitoring/pings/url.ts'
import { isValidSchedule } from '#shared/monitoring/schedules/schedule.ts'
import { resolveTimeZone } from '#shared/monitoring/schedules/time-zones.ts'

interface ErrorCase {
  name: string
  method: string
  path: string
  body: unknown
  rawBody?: string
  headers?: unknown
  setup?: string
  expectStatus: number
  expectBody: unknown
}

const vectors = new URL('../../../vectors/monitoring-errors.json', import.meta.url)
const cases: ErrorCase[] = JSON.parse(readFileSync(vectors, 'utf8'))
const rules = { isValidSchedule, resolveTimeZone }
const v3 = { slugFromName: false }

const INTEGRATIONS = [
  { id: '5b6d2fa6-3a5c-4d1c-9e51-0ad1b5a1f6c1', name: 'Alerts' },
  { id: '0f7f7d3e-1c2a-4b43-8d8f-0a4e7f6d1a02', name: 'dup' },
  { id: '3d9c1c56-9f53-4f55-8a0a-0e3f2b7c9d03', name: 'dup' },
  { id: '9a2e4b1c-6d7f-4e8a-b3c5-1f0e9d8c7b04', name: '' },
]

/** Returns the error of the pure rules for a create or update request; null if they find none. */
function refusal(raw: Uint8Array): string | null {
  const parsed = parseJsonBody(raw)
  if (!parsed.ok) return parsed.error
  const result = parseCheckSpec(parsed.body, rules)
  if (!result.ok) return result.error
  const integrations = resolveIntegrations(result.spec.channels ?? '', INTEGRATIONS)
  return integrations.ok ? null : integrations.error
}

function bytesOf({ rawBody, body }: ErrorCase): Buffer {
  if (rawBody === '\\xff') return Buffer.from([0xff])
  return Buffer.from(rawBody ?? JSON.stringify(body))
}

/** Returns the expected error text of a case; null if it needs stored data. */
function expectedText({ method, path, headers, setup, expectStatus, expectBody }: ErrorCase): string | null {
  const isSpec = path === '/api/v3/checks/' || path === '/api/v3/checks/{uuid}'
  if (method !== 'POST' || !isSpec || headers !== undefined || setup !== undefined || expectStatus !== 400) return null
  if (typeof expectBody !== 'object' || expectBody === null || !('error' in expectBody)) return null
  return String(expectBody.error)
}

for (const vector of cases) {
  const text = expectedText(vector)
  if (text === null) continue
  test(`published error: ${vector.name}`, (t) => {
    t.is(refusal(bytesOf(vector)), text)
  })
}

for (const vector of cases.filter(({ path, expectStatus }) => path.includes('/flips/?') && expectStatus === 400)) {
  test(`published error: ${vector.name} of ${vector.path}`, (t) => {
    t.is(parseFlipFilters(new URL(vector.path, 'http://localhost').searchParams, 0), null)
  })
}

const names: Record<string, string> = {
  '{uuid}': '803f680d-e89b-492b-82ef-2be7b774a92d',
  '{missing_uuid}': '11111111-e89b-492b-82ef-2be7b774a92d',
  '{UUID}': '803F680D-E89B-492B-82EF-2BE7B774A92D',
  '{ping_key}': 'p'.repeat(22),
}

for (const { name, path, expectStatus, expectBody } of cases.filter((vector) => vector.path.startsWith('/ping/'))) {
  test(`published error: ${name}`, (t) => {
    const [rest = '', query = ''] = path
      .slice('/ping/'.length)
      .replace(/\{\w+\}/gi, (key) => names[key] ?? key)
      .split('?')
    const url = parsePingPath(rest)
    if (expectBody === null && expectStatus === 404) t.is(url.form, 'none')
    else if (expectBody === 'not found' || expectStatus === 409) t.true(url.form === 'uuid' || url.form === 'slug')
    else if (expectBody === 'invalid uuid format') t.is(parsePingQuery(query).rid, null)
    else if (expectBody === 'invalid url format') {
      t.true(url.form === 'bad-slug' || ('exitStatus' in url && (url.exitStatus ?? 0) > 255))
    } else t.is(name, 'ping: body larger than 2621440 bytes')
  })
}

for (const [title, body] of [
  ['a name of 100 emoji', { name: '😀'.repeat(100) }],
  ['empty texts', { name: '', slug: '', tags: '', desc: '', start_kw: '', methods: '', channels: '' }],
  ['a slug with -- and _', { slug: 'a--b_c' }],
  ['an unknown member', { status: null, constructor: 1 }],
  ['the smallest and the largest seconds', { timeout: 60, grace: 31_536_000 }],
] as const) {
  test(`${title} is accepted`, (t) => {
    t.is(refusal(Buffer.from(JSON.stringify(body))), null)
  })
}

for (const [title, body, error] of [
  ['a NUL', { desc: 'a\0b' }, 'desc is not a string'],
  ['tags of 501 characters', { tags: 't'.repeat(501) }, 'tags is too long'],
  ['a huge negative number', { grace: -1e300 }, 'grace is not a number'],
] as const) {
  test(`${title} is refused`, (t) => {
    t.is(refusal(Buffer.from(JSON.stringify(body))), `json validation error: ${error}`)
  })
}

test('an integer of 400 digits is too large, or too small with a minus', (t) => {
  t.is(refusal(Buffer.from(`{"timeout": ${'9'.repeat(400)}}`)), 'json validation error: timeout is too large')
  t.is(refusal(Buffer.from(`{"timeout": -${'9'.repeat(400)}}`)), 'json validation error: timeout is too small')
})

test('an old time zone name is replaced by the current one', (t) => {
  t.deepEqual(parseCheckSpec({ tz: 'Europe/Kiev' }, rules), { ok: true, spec: { tz: 'Europe/Kyiv' } })
})

test('a new check has the published defaults', (t) => {
  t.deepEqual(applySpec(null, {}, v3), DEFAULT_SETTINGS)
})

interface ChangeCase {
  title: string
  current?: Partial<typeof DEFAULT_SETTINGS>
  spec: CheckSpec
  changes: Partial<typeof DEFAULT_SETTINGS>
}

const changeCases: ChangeCase[] = [
  { title: 'an empty request changes nothing', spec: {}, changes: {} },
  {
    title: 'a timeout makes a simple check',
    current: { kind: 'cron' },
    spec: { timeoutSeconds: 60 },
    changes: { kind: 'simple', timeoutSeconds: 60 },
  },
  {
    title: 'a timeout beside a schedule is not stored',
    spec: { timeoutSeconds: 60, schedule: ' * * * * * ' },
    changes: { kind: 'cron', schedule: ' * * * * * ' },
  },
  {
    title: 'a schedule that is no cron is OnCalendar',
    spec: { schedule: 'daily' },
    changes: { kind: 'oncalendar', schedule: 'daily' },
  },
  { title: 'a zone is stored for a simple check too', spec: { tz: 'Europe/Riga' }, changes: { tz: 'Europe/Riga' } },
  { title: 'a name does not change the slug', spec: { name: 'My Job' }, changes: { name: 'My Job' } },
  {
    title: 'subject enables the subject filter',
    spec: { subject: 'OK' },
    changes: { successKw: 'OK', filterSubject: true },
  },
  {
    title: 'an empty subject disables it',
    current: { successKw: 'x', filterSubject: true },
    spec: { subject: '' },
    changes: { successKw: '', filterSubject: false },
  },
  {
    title: 'an empty subject leaves it on for the other keywords',
    current: { failureKw: 'x' },
    spec: { subject: '' },
    changes: { successKw: '', filterSubject: true },
  },
  {
    title: 'subject and subject_fail together',
    spec: { subject: '', subjectFail: 'E' },
    changes: { successKw: '', failureKw: 'E', filterSubject: true },
  },
  {
    title: 'an empty subject_fail sees the new subject',
    current: { successKw: 'x' },
    spec: { subject: '', subjectFail: '' },
    changes: { successKw: '', failureKw: '', filterSubject: false },
  },
  {
    title: 'explicit keywords win over the deprecated pair',
    spec: { subject: 'a', successKw: 'b', filterSubject: false },
    changes: { successKw: 'b', filterSubject: false },
  },
]
for (const { title, current, spec, changes } of changeCases) {
  test(`applying: ${title}`, (t) => {
    t.deepEqual(applySpec({ ...DEFAULT_SETTINGS, ...current }, spec, v3), changes)
  })
}

test('a schedule that never occurs in its time zone is refused', (t) => {
  const schedule = 'Sun *-3-25..31 02:15'
  const tz = 'Europe/Paris'
  const expected = { message: 'json validation error: schedule is not a valid cron or OnCalendar expression' }
  const stored = { ...DEFAULT_SETTINGS, kind: 'oncalendar', schedule } as const
  t.throws(() => applySpec(null, { schedule, tz }, v3), expected)
  t.throws(() => applySpec({ ...DEFAULT_SETTINGS, tz }, { schedule }, v3), expected)
  t.throws(() => applySpec(stored, { tz }, v3), expected)
  t.like(
    applySpec({ ...stored, tz }, { name: 'web' }, v3),
    { name: 'web' },
    'stored invalid values do not block other changes',
  )
  t.like(applySpec({ ...stored, tz }, { timeoutSeconds: 60, tz }, v3), { kind: 'simple' })
  t.throws(() => readProvisioning({ tz }, { ...NO_PROVISIONING, schedule }), expected)
  t.throws(() => readRecurring({ every: schedule, for: 60, tz }, 'hours[0]'), {
    message: /hours\[0\]\.every is not a valid/,
  })
  const { spec, leftOut } = creationSettings({ ...NO_PROVISIONING, tz }, new URLSearchParams({ schedule }))
  t.deepEqual([spec.schedule, leftOut], [undefined, ['schedule']], 'the ping is accepted')
})

test('versions 1 and 2 derive a missing slug from the name', (t) => {
  t.like(applySpec(null, { name: 'My Job' }, { slugFromName: true }), { slug: 'my-job' })
  t.like(applySpec(null, { name: 'My Job', slug: 'mine' }, { slugFromName: true }), { slug: 'mine' })
})

test('unique needs every named field in the body', (t) => {
  t.is(uniqueCriteria({ name: 'a' }), null)
  t.is(uniqueCriteria({ name: 'a', unique: [] }), null)
  t.is(uniqueCriteria({ name: 'a', unique: ['name', 'tags'] }), null)
  t.deepEqual(uniqueCriteria({ name: 'a', timeoutSeconds: 60, unique: ['name', 'timeout', 'name'] }), {
    name: 'a',
    timeoutSeconds: 60,
  })
})

test('channels are ids or names, once each', (t) => {
  const [alerts, ...others] = INTEGRATIONS.map((integration) => integration.id)
  t.deepEqual(resolveIntegrations(`Alerts,${alerts}`, INTEGRATIONS), { ok: true, ids: [alerts] })
  t.deepEqual(resolveIntegrations('*', INTEGRATIONS), { ok: true, ids: [alerts, ...others] })
  t.deepEqual(resolveIntegrations('', INTEGRATIONS), { ok: true, ids: [] })
  const impostor = { id: 'x', name: alerts ?? '' }
  t.false(resolveIntegrations(impostor.name, [...INTEGRATIONS, impostor]).ok)
})
