import test from 'ava'
import type { Severity } from '#shared/monitoring/alerting/policy.ts'
import { bundleWindow, nextBundle, planBundles } from '#shared/monitoring/contacts/bundles.ts'
import { CODE_LIMITS, codeResult, codeWait } from '#shared/monitoring/contacts/contact-codes.ts'
import {
  CONTACT_KINDS,
  defaultRecoveries,
  maskedAddress,
  withShared,
} from '#shared/monitoring/contacts/contact-kinds.ts'
import {
  type ContactRules,
  endOfQuiet,
  entriesFor,
  expandRules,
  listFor,
  readEntries,
  readOnCallSettings,
  type UsableMethod,
} from '#shared/monitoring/contacts/contact-rules.ts'
import { microsOfSeconds } from '#shared/time.ts'
import { randomOf } from '../../../support/random.ts'

const SEED = 20261128
const START = Date.UTC(2026, 10, 27, 22, 30) * 1000
const at = (iso: string) => Date.parse(iso) * 1000
const seconds = microsOfSeconds

const methods: UsableMethod[] = [
  { id: 'mail', kind: 'email' },
  { id: 'push', kind: 'ntfy' },
  { id: 'phone', kind: 'call' },
]
const none: ContactRules = { critical: [], other: [] }
const nights = [{ every: '0 22 * * *', for: 32_400, tz: 'UTC' }]

const expand = (rules: ContactRules, severity: Severity, quiet = nights, startAt = START) =>
  expandRules({ entries: entriesFor(rules, listFor(severity), methods), severity, quiet, startAt }).filter(
    ({ isJoined }) => !isJoined,
  )

test('without rules all methods are used, calls after 5 minutes', (t) => {
  t.deepEqual(
    expand(none, 'critical').map(({ method, dueAt }) => [method, (dueAt - START) / 1e6]),
    [
      ['mail', 0],
      ['push', 0],
      ['phone', 300],
    ],
  )
})

test('without a list for other incidents the critical list applies', (t) => {
  const rules = { critical: [{ after: 60, method: 'push' }], other: [] }
  t.deepEqual(entriesFor(rules, 'other', methods), rules.critical)
})

test('entries of unusable methods are omitted without a replacement', (t) => {
  const rules = { critical: [{ after: 0, method: 'gone' }], other: [] }
  t.deepEqual(expand(rules, 'critical'), [])
})

test('quiet hours delay incidents that are not critical, as one message', (t) => {
  const entries = [
    { after: 0, method: 'push' },
    { after: 600, method: 'phone' },
    { after: 32_400, method: 'mail' },
  ]
  const rules = { critical: entries, other: entries }
  t.true(expand(rules, 'critical').every(({ isDelayed }) => !isDelayed))
  t.deepEqual(
    expand(rules, 'warning').map(({ method, dueAt, isDelayed }) => [method, dueAt, isDelayed]),
    [
      ['push', at('2026-11-28T07:00:00Z'), true],
      ['mail', START + seconds(32_400), false],
    ],
  )
})

test('quiet hours keep their wall time when the clocks change', (t) => {
  const quiet = [{ every: '0 22 * * *', for: 32_400, tz: 'Europe/Berlin' }]
  t.is(endOfQuiet(quiet, at('2026-03-28T23:00:00Z')), at('2026-03-29T06:00:00Z'))
  t.is(endOfQuiet(quiet, at('2026-03-28T20:59:59Z')), at('2026-03-28T20:59:59Z'))
})

test('adjacent quiet hours merge, and delay by at most a week', (t) => {
  const adjoining = [...nights, { every: '0 7 * * *', for: 3600, tz: 'UTC' }]
  t.is(endOfQuiet(adjoining, START), at('2026-11-28T08:00:00Z'))
  t.is(endOfQuiet([{ every: '0 * * * *', for: 7200, tz: 'UTC' }], START), START + seconds(604_800))
})

test('a sequence is sorted, in the future and without duplicates', (t) => {
  for (let index = 0; index < 2000; index++) {
    const random = randomOf(SEED, index)
    const list = () =>
      Array.from({ length: random.int(11) }, () => ({
        after: random.pick([0, 0, 60, 300, random.int(7200)]),
        method: random.pick(['mail', 'push', 'phone', 'gone']),
      }))
    const rules = { critical: list(), other: list() }
    const severity = random.pick(['critical', 'warning', 'info'] as const)
    const startAt = START + seconds(random.int(200_000))
    const quiet = random.oneIn(2) ? nights : []
    const sequence = expand(rules, severity, quiet, startAt)
    const places = sequence.map(({ dueAt, method }) => `${dueAt} ${method}`)
    t.is(new Set(places).size, places.length)
    t.deepEqual(
      sequence,
      sequence.toSorted((a, b) => a.dueAt - b.dueAt),
    )
    for (const { after, dueAt, isDelayed, method } of sequence) {
      t.true(dueAt >= startAt + seconds(after) && method !== 'gone')
      t.is(isDelayed, dueAt > startAt + seconds(after))
      if (severity === 'critical') t.false(isDelayed)
      else t.is(endOfQuiet(quiet, dueAt), dueAt, 'not within quiet hours')
    }
    const chosen = severity === 'critical' || rules.other.length === 0 ? rules.critical : rules.other
    const isReachable = chosen.length === 0 || chosen.some(({ method }) => method !== 'gone')
    t.is(sequence.length > 0, isReachable)
  }
})

test('each notification is in one message, which is never early', (t) => {
  for (let index = 0; index < 2000; index++) {
    const random = randomOf(SEED + 1, index)
    const kind = random.pick(CONTACT_KINDS)
    const window = bundleWindow(kind)
    const pending = Array.from({ length: random.int(40) }, (_, n) => ({
      id: String(n),
      dueAt: seconds(random.pick([0, random.int(20), random.int(300)])),
    }))
    const lastSentAt = random.oneIn(3) ? null : -seconds(random.int(100))
    const bundles = planBundles(kind, lastSentAt, pending)
    const ids = bundles.flatMap((bundle) => bundle.ids)
    t.is(ids.length, pending.length)
    t.is(new Set(ids).size, pending.length)
    let last = lastSentAt
    for (const { at: sentAt, ids: members } of bundles) {
      if (last !== null) t.true(sentAt - last >= window)
      for (const id of members) {
        const dueAt = pending.find((one) => one.id === id)?.dueAt ?? Number.NaN
        t.true(sentAt >= dueAt && sentAt - dueAt <= window)
      }
      last = sentAt
    }
  }
})

test('the first message is sent at once, the rest at the window end', (t) => {
  const due = (id: string, second: number) => ({ id, dueAt: seconds(second) })
  t.is(nextBundle('sms', null, []), null)
  t.deepEqual(nextBundle('sms', null, [due('b', 9), due('a', 5)]), { at: seconds(5), ids: ['a'] })
  t.deepEqual(nextBundle('sms', seconds(5), [due('c', 66), due('b', 9)]), { at: seconds(65), ids: ['b'] })
  t.deepEqual(nextBundle('ntfy', seconds(5), [due('b', 9), due('c', 20)]), { at: seconds(20), ids: ['b', 'c'] })
})

test('300 checks that go down within a minute make at most two calls', (t) => {
  const pending = Array.from({ length: 300 }, (_, n) => ({ id: String(n), dueAt: seconds(n * 0.2) }))
  const bundles = planBundles('call', null, pending)
  t.is(bundles.filter(({ at: sentAt }) => sentAt <= seconds(60)).length, 2)
  t.is(bundles[0]?.ids.length, 1, 'the first is sent at once')
  t.is(bundles[1]?.ids.length, 299)
})

test('a code is valid once, for 15 minutes and 5 tries', (t) => {
  const row = { digest: Buffer.from('right'), createdAt: 0, tries: 0, isUsed: false }
  const enter = (text: string, more: object, now = 0) =>
    codeResult({ ...row, ...more }, (digest) => digest.toString() === text, seconds(now))
  t.is(enter('right', {}), 'valid')
  t.is(enter('wrong', {}), 'wrong')
  t.is(enter('right', { tries: 4 }), 'valid')
  t.is(enter('right', { tries: 5 }), 'expired')
  t.is(enter('right', { isUsed: true }), 'expired')
  t.is(enter('right', {}, 900), 'valid')
  t.is(enter('right', {}, 901), 'expired')
  t.is(
    codeResult(null, () => true, 0),
    'expired',
  )
})

for (const [scope, { count, seconds: length }] of Object.entries(CODE_LIMITS))
  test(`at most ${count} codes per ${scope} are sent in ${length} s`, (t) => {
    const empty = { person: [], address: [], organisation: [] }
    const times = Array.from({ length: count }, (_, n) => seconds(n))
    t.is(codeWait({ ...empty, [scope]: times.slice(1) }, seconds(count)), 0)
    t.is(codeWait({ ...empty, [scope]: times }, seconds(count)), length - count)
    t.is(codeWait({ ...empty, [scope]: times }, seconds(length)), 0)
  })

test('shortens addresses and hides keys', (t) => {
  t.is(maskedAddress('sms', { value: '+15551230100' }), '+1555***0100')
  t.is(maskedAddress('email', { value: 'anna@example.org' }), 'a***@example.org')
  t.is(maskedAddress('po', { user_key: 'secret' }), '***')
})

test('messages with a price are not sent for recoveries by default', (t) => {
  t.deepEqual(
    CONTACT_KINDS.filter((kind) => !defaultRecoveries(kind)),
    ['sms', 'call', 'whatsapp'],
  )
})

test('an integration provides server and token, never the recipient', (t) => {
  const integration = { token: 'bot', id: 1, thread_id: 2, base_url: 'https://api.telegram.org' }
  t.deepEqual(withShared('telegram', { id: 5, token: 'own' }, integration), {
    id: 5,
    token: 'bot',
    base_url: 'https://api.telegram.org',
  })
})

for (const [value, message] of [
  [[{ after: -1, method: 'a' }], 'critical[0].after must be between 0 and 7200 seconds'],
  [[{ after: 0, method: 'b' }], 'critical[0].method must be one of your contact methods'],
  [[{ after: 0, method: 'a', more: 1 }], 'critical[0].more is not a known member'],
  [Array.from({ length: 2 }, () => ({ after: 0, method: 'a' })), 'critical[1] repeats another entry'],
  [Array.from({ length: 11 }, (_, after) => ({ after, method: 'a' })), 'critical must have at most 10 elements'],
] as const)
  test(`refuses a list of rules: ${message}`, (t) => {
    const error = t.throws(() => readEntries([...value], 'critical', ['a']))
    t.is(error?.message, `json validation error: ${message}`)
  })

test('reads quiet hours and notices, latest notice last', (t) => {
  const notices = { before: [300, 86_400, 300], start: true, end: false }
  const quiet = [{ every: 'Mon..Fri 22:00', for: 3600, tz: 'Europe/Berlin' }]
  t.deepEqual(readOnCallSettings({ quiet, notices }), { quiet, notices: { ...notices, before: [86_400, 300] } })
  t.throws(() => readOnCallSettings({ quiet, notices: { ...notices, before: [60] } }), {
    message: 'json validation error: notices.before[0] must be between 300 and 604800 seconds',
  })
})
