import { readFileSync } from 'node:fs'
import test from 'ava'
import { digestOf } from '#shared/monitoring/alerting/digest.ts'
import { noticeOf } from '#shared/monitoring/availability/notice.ts'
import { integrationKinds } from '#shared/monitoring/integrations/kinds.ts'
import { exceededLimits, type LimitedKind, messageLimits } from '#shared/monitoring/notifications/message-limits.ts'
import type { Notification, Summary } from '#shared/monitoring/notifications/notification.ts'
import type { HttpClient, OutgoingRequest } from '#shared/platform/http/http-client.ts'
import { transports } from '../../../../workers/notifier/transports/registry.ts'
import { effort } from '../../../support/effort.ts'
import { someNotification, someRecovery } from '../../../support/notification.ts'
import { openTransportContext } from '../transport-context.ts'
import { chatKinds } from './chat-forms.ts'
import { incidentKinds } from './incident-forms.ts'

const LINK = `https://signals.example/projects/${'0'.repeat(36)}/incidents`
const isFull = effort(0, 1) === 1
const SIZES = isFull
  ? Array.from({ length: 500 }, (_, index) => index + 1).filter(
      (size) => size <= 60 || (size >= 99 && size <= 101) || size % 50 === 0,
    )
  : [1, 2, 3, 8, 25, 49, 50, 51, 52, 60, 99, 100, 101, 500]
/** Each becomes longer by markup, escapes or encoding. */
const FILLERS = ['x', '<', '&', '"', "'", '*', '_', '`', '.', '😀', 'é', '\\']
// Object.keys loses the types of the keys.
const kinds = Object.keys(messageLimits) as LimitedKind[]

const configs = new Map(
  [...chatKinds, ...incidentKinds].map(({ kind, config }) => [kind, config('https://service.example')]),
)
configs.set('apprise', { value: 'tgram://token/chat' })

/** Returns a name of 100 characters whose beginning no escape changes. */
const nameOf = (n: number, filler: string) => `c${n}z`.padEnd(100, '#').replaceAll('#', filler)
const names = (size: number, filler: string) => Array.from({ length: size }, (_, n) => nameOf(n, filler))

/** Returns the message that a transport sends. */
async function sentBy(kind: string, notification: Notification, config = configs.get(kind)): Promise<unknown> {
  const sent: OutgoingRequest[] = []
  const http: HttpClient = {
    async request(request) {
      sent.push(request)
      return { status: 200, headers: {}, body: Buffer.alloc(0), truncated: false, durationMs: 0 }
    },
    async [Symbol.asyncDispose]() {},
  }
  const twilio = { url: 'https://gateway.example', account: 'AC1', auth: 'tok', from: '+15550199' }
  const settings = { siteName: 'Signalbox', twilio, appriseUrl: 'https://apprise.example', mayRunCommands: false }
  await using context = openTransportContext({ http, gatewayHttp: http, settings })
  await transports.get(kind)?.send(context, config, notification)
  const request = sent.at(-1)
  const body = String(request?.body)
  if (request?.headers?.['content-type'] === 'application/json') return JSON.parse(body)
  return Object.fromEntries(new URLSearchParams(body))
}

function textsOf(request: unknown): string[] {
  if (typeof request === 'string') return [request]
  return typeof request === 'object' && request !== null ? Object.values(request).flatMap(textsOf) : []
}

/** Counts the checks that a message names, and all that it mentions. */
function counted(texts: readonly string[]): { named: number; total: number } {
  const all = texts.join('\n').replaceAll('\\', '')
  const named = new Set(all.match(/c\d+z/g)).size
  const [, more] = / and (\d+) more/.exec(all) ?? []
  const [, whole] = /see all (\d+)/.exec(all) ?? []
  return { named, total: named + Number(more ?? whole ?? 0) }
}

/** Returns unclosed elements and unescaped characters. */
function faultsOfMarkup(text: string): string[] {
  const open: string[] = []
  const faults: string[] = []
  for (const [tag, close, name] of text.matchAll(/<(\/?)([a-z]+)[^<>]*>/gi)) {
    if (close === '') open.push(name ?? '')
    else if (open.pop() !== name) faults.push(tag)
  }
  const bare = text.replace(/<\/?[a-z]+[^<>]*>/gi, '').replace(/&(amp|lt|gt|quot|#39);/g, '')
  return [...faults, ...open, ...(bare.match(/[<>&]/g) ?? [])]
}

const markupOf: Partial<Record<LimitedKind, (request: unknown) => string>> = {
  telegram: (request) => String(Object(request).text),
  po: (request) => String(Object(request).message),
  call: (request) => String(Object(request).Twiml),
  matrix: (request) => String(Object(request).formatted_body).replaceAll('<br>', '\n'),
}

test('limits the length of every kind with a generated text', (t) => {
  const withoutText = ['email', 'webhook', 'shell', 'group']
  t.deepEqual([...kinds, ...withoutText].sort(), [...integrationKinds.keys()].sort())
})

const summaries: ((checks: readonly string[]) => [Notification['status'], Summary])[] = [
  (checks) => ['down', digestOf(digest('down', checks, true), LINK)],
  (checks) => ['up', digestOf(digest('up', checks, false), LINK)],
  (checks) => [
    'down',
    noticeOf(
      checks.map((label) => ({ label, gapFrom: 0, gapUntil: 60_000_000, nextAt: null })),
      LINK,
    ),
  ],
]

function digest(status: 'up' | 'down', checks: readonly string[], isSuspicious: boolean) {
  const members = checks.map((name, n) => ({ check: String(n), name, incident: String(n), severity: 'high' }))
  return { status, size: checks.length, members, isSuspicious }
}

const UNITS = { characters: 'characters', units: 'UTF-16 units', bytes: 'bytes' }

test('the guide lists each limit with its unit', (t) => {
  const rows = readFileSync('docs/integrations.md', 'utf8')
    .split('\n## How long may a message be?')[1]
    ?.split('\n## ')[0]
  for (const kind of kinds) {
    const row = rows
      ?.split('\n')
      .find((line) => line.startsWith('| `') && line.split(' | ')[0]?.includes(`\`${kind}\``))
    for (const { max, unit } of messageLimits[kind]) {
      t.regex(row ?? '', new RegExp(`(^|[^,\\d])${max.toLocaleString('en')}(?!,?\\d)`), kind)
      t.true(row?.includes(UNITS[unit]), `${kind}: ${unit}`)
    }
  }
})

for (const kind of kinds)
  test(`a message about many checks by ${kind} fits and counts all`, async (t) => {
    for (const [index, size] of SIZES.entries())
      for (const [round, filler] of FILLERS.entries()) {
        if (!isFull && (index + round) % 4 > 0) continue
        const make = summaries[round % summaries.length]
        if (!make) return t.fail()
        const [status, summary] = make(names(size, filler))
        const request = await sentBy(kind, someNotification({ status, reason: '', summary, urls: urlsOf(LINK) }))
        const label = `${size} checks named ${filler}`
        t.deepEqual(exceededLimits(kind, request), [], label)
        const { named, total } = counted(textsOf(request))
        t.is(total, size, label)
        if (size <= 3 && kind !== 'call') t.true(named > 0, label)
        const markup = markupOf[kind]?.(request)
        if (markup !== undefined) t.deepEqual(faultsOfMarkup(markup), [], label)
      }
  })

for (const kind of kinds)
  test(`a message about one check by ${kind} fits with any check`, async (t) => {
    const { lastPing, check } = someNotification()
    if (!lastPing) return t.fail()
    for (const filler of FILLERS)
      for (const make of [someNotification, someRecovery]) {
        const name = filler.repeat(100)
        const request = await sentBy(
          kind,
          make({
            check: { ...check, name, tags: `${filler.repeat(240)} b c`, kind: 'cron', schedule: filler.repeat(100) },
            projectName: name,
            lastPing: { ...lastPing, body: Buffer.from(filler.repeat(3000)) },
            dependents: 14,
            alert: {
              incidentId: '0',
              what: 'first',
              severity: 'critical',
              downAt: 0,
              step: 1,
              repeat: 0,
              url: LINK,
              ackUrl: `${LINK}/${'s'.repeat(100)}`,
              steps: null,
              nextIn: null,
              recipientText: '',
              downAgo: 0,
              lateBy: 900_000_000,
              lateReason: 'PARENT_UP',
              suppressedBy: name,
            },
          }),
        )
        t.deepEqual(exceededLimits(kind, request), [], filler)
        const word = make === someRecovery ? 'UP' : 'DOWN'
        t.true(
          textsOf(request).some((text) => text.includes(word)),
          `${kind} contains ${word}`,
        )
        const markup = markupOf[kind]?.(request)
        if (markup !== undefined) t.deepEqual(faultsOfMarkup(markup), [], filler)
      }
  })

test('shortens names of checks that are longer than the API allows', async (t) => {
  const check = { ...someNotification().check, name: 'x'.repeat(5000) }
  for (const kind of kinds) t.deepEqual(exceededLimits(kind, await sentBy(kind, someNotification({ check }))), [], kind)
})

function urlsOf(check: string): Notification['urls'] {
  return { ...someNotification().urls, check }
}
