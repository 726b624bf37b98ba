import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { monthsFrom } from '#shared/risk/packs/money.ts'
import { createSandboxGateway } from '#shared/risk/registries/sandbox/gateway.ts'
import { SANDBOX_SEED } from '#shared/risk/registries/sandbox/registries.ts'
import { UNASSIGNED_GSTIN, UNASSIGNED_PAN } from '../../examples/registry-gateway/check-rules.ts'
import { checkGateway } from '../../examples/registry-gateway/check-run.ts'
import { openProviderHttp } from '../../examples/registry-gateway/provider-http.ts'
import { sha256 } from '../../examples/registry-gateway/rules.ts'

const TOKEN = 'token-of-the-check'
const HANDLE = 'consent-of-the-check'
const ids = {
  gstin: '29AAACR5678D1Z5',
  pan: 'AAACR5678D',
  pair: ['29AAACR5678D1Z5', '27AAACB1234C1ZF'] as const,
  iec: 'AAACR5678D',
  cin: 'U28999KA2015PTC123456',
  company: ['RA000585', '00000006'] as const,
  consent: HANDLE,
  known: ['accounts@example.com'],
}

interface Call {
  method: string
  path: string
  token: string | undefined
  consent: string | undefined
}
interface Reply {
  status: number
  headers?: Record<string, string>
  // Any JSON of the gateway under test.
  // biome-ignore lint/suspicious/noExplicitAny: changed by each fault
  body: any
}

/** A fault: changes the answers of an otherwise correct gateway. */
type Fault = (call: Call, reply: Reply) => Reply

const methods: Record<string, string> = { '/searches/security-interests': 'POST', '/searches/persons': 'POST' }

const SERVED =
  /^\/(taxpayers|companies|establishments|accounts|returns|searches|exporter-codes|groups|registry-companies)\b/
const UNASSIGNED = [UNASSIGNED_GSTIN, UNASSIGNED_PAN, 'U99999ZZ1900PTC999999', 'ZZ999999']
/** The sandbox has no groups. */
const group = {
  ...{ cin: ids.cin, lei: '999900SYNTHBORROWR09', directParent: null, ultimateParent: null },
  ...{ directParentException: 'NO_KNOWN_PERSON', ultimateParentException: null },
}

/** Serves the sandbox's answers over HTTP, with the rules for tokens, consents and unknown identifiers. */
async function gatewayWith(fault: Fault) {
  const answer = createSandboxGateway({ seed: SANDBOX_SEED }, { now: Date.now, sleep: async () => {} })
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const url = new URL(request.url ?? '/', 'http://gateway')
    const call = {
      method: request.method ?? '',
      path: url.pathname,
      token: request.headers.authorization,
      consent: [request.headers['x-consent-handle']].flat()[0],
    }
    const reply = fault(call, await correct(call, url, body))
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
    response.end(JSON.stringify(reply.body))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A server on a TCP port has an address object.
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() }

  async function correct(call: Call, url: URL, body: string): Promise<Reply> {
    const refused = (status: number, code: string) => ({ status, body: { code } })
    if (call.token !== `Bearer ${TOKEN}`) return refused(401, 'NOT_ENTITLED')
    if (!SERVED.test(call.path)) return refused(404, 'NOT_FOUND')
    if (call.method !== (methods[call.path] ?? 'GET')) return refused(405, 'NOT_ENTITLED')
    const isBound = /^\/(establishments|accounts|returns|searches\/persons)/.test(call.path)
    const all = `${url.href} ${body}`
    const isUnassigned = UNASSIGNED.some((identifier) => all.includes(identifier))
    if (isBound && (call.consent !== HANDLE || isUnassigned)) return refused(403, 'NO_CONSENT')
    const needed = /^\/(companies|establishments|accounts|returns|groups)/.test(call.path)
    if (needed && url.search === '') return refused(422, 'UNPARSEABLE')
    if (isUnassigned && call.path !== '/searches/security-interests') return refused(404, 'NOT_FOUND')
    if (call.path === '/groups') return { status: 200, body: { asOf: null, upstream: [], data: group } }
    const { status, body: bytes } = await answer({
      method: call.method === 'POST' ? 'POST' : 'GET',
      url: url.href,
      headers: isBound ? { 'x-consent-handle': HANDLE } : {},
      body,
      timeoutMs: 1000,
      connectTimeoutMs: 1000,
      signal: new AbortController().signal,
    })
    const parsed = JSON.parse(bytes.toString('utf8'))
    if (call.path === '/returns/trade') parsed.data.periods = everyMonth(url, parsed.data.periods)
    return { status, body: status === 200 ? { ...parsed, asOf: null, upstream: [] } : parsed }
  }
}

/** The sandbox has twelve periods; the other months of a request are not filed. */
function everyMonth(url: URL, periods: { fp: string }[]) {
  const from = url.searchParams.get('from') ?? ''
  return monthsFrom(from, 16).map((month) => {
    const fp = `${month.slice(5)}${month.slice(0, 4)}`
    return periods.find((period) => period.fp === fp) ?? { fp, filing: 'MONTHLY', status: 'NOT_FILED' }
  })
}

async function failuresOf(fault: Fault) {
  await using gateway = await gatewayWith(fault)
  await using client = openProviderHttp()
  const { rows } = await checkGateway({
    url: gateway.url,
    token: TOKEN,
    ids,
    maxCalls: 200,
    http: client.http,
    now: Date.now,
    pause: async () => {},
  })
  const of = (result: string) => rows.filter((row) => row.result === result).map(({ check }) => check.slice(0, 3))
  return {
    ...{ failed: [...new Set(of('FAIL'))], warned: [...new Set(of('WARN'))], skipped: of('SKIP'), passed: of('PASS') },
    text: JSON.stringify(rows),
  }
}

const isFiled = ({ status }: { status: string }) => status === 'FILED'
const isUnfiled = ({ status }: { status: string }) => status === 'NOT_FILED'
const ok = (call: Call, reply: Reply, path: string) => reply.status === 200 && call.path.startsWith(path)
/** Returns a fault that changes the bodies of answers with data. */
const edited =
  (path: string, edit: (body: Reply['body']) => void): Fault =>
  (call, reply) => {
    if (ok(call, reply, path)) edit(reply.body)
    return reply
  }

test('the sandbox behind HTTP passes every check', async (t) => {
  const { failed, warned, skipped, passed } = await failuresOf((_, reply) => reply)
  t.deepEqual([failed, warned, skipped], [[], [], []])
  t.true(passed.length > 60)
})

const faults: Record<string, { fault: Fault; warns?: boolean }> = {
  G01: { fault: ({ token }, reply) => (token === undefined ? { status: 200, body: {} } : reply) },
  G02: { fault: ({ path }, reply) => (path === '/no-such-operation' ? { ...reply, status: 200 } : reply) },
  G04: {
    fault: (call, reply) =>
      ok(call, reply, '/taxpayers') ? { ...reply, headers: { 'content-type': 'text/html' } } : reply,
  },
  G06: {
    fault: (call, reply) =>
      call.path === `/exporter-codes/${ids.iec}` ? { status: 400, body: { error: 'no' } } : reply,
  },
  G07: {
    fault: edited('/taxpayers', (body) => {
      body.data.status = 'Active'
    }),
  },
  G08: {
    fault: edited('/taxpayers', (body) => {
      body.data.gstin = '27AAACB1234C1ZF'
    }),
  },
  G09: {
    fault: edited('/companies', (body) => {
      body.asOf = '2099-01-01T00:00:00Z'
    }),
  },
  G10: {
    fault: edited('/accounts', (body) => {
      body.data.Account[0].Summary.currentBalance = '1.005'
    }),
  },
  G11: {
    warns: true,
    fault: edited('/taxpayers', (body) => {
      body.upstream = [randomUUID()]
    }),
  },
  G12: {
    fault: ({ method, path }, reply) =>
      method === 'POST' && path.startsWith('/taxpayers') ? { status: 200, body: {} } : reply,
  },
  G13: {
    fault: ({ path }, reply) =>
      path.includes(UNASSIGNED_GSTIN) && path.startsWith('/taxpayers')
        ? { status: 200, body: { asOf: null, data: { gstin: UNASSIGNED_GSTIN, legalName: '' } } }
        : reply,
  },
  G14: {
    fault: ({ path }, reply) => (path === '/companies' && reply.status === 422 ? { status: 200, body: {} } : reply),
  },
  G16: {
    fault: (call, reply) =>
      call.path === '/accounts/deposits' && call.consent === undefined
        ? { status: 403, body: { code: 'CONSENT_REVOKED' } }
        : reply,
  },
  G17: {
    fault: edited('/accounts', (body) => {
      body.consent.handle = 'another'
    }),
  },
  G18: {
    fault: ({ path, consent }, reply) =>
      path === '/accounts/deposits' && consent === HANDLE && reply.status === 403 ? { status: 200, body: {} } : reply,
  },
  G19: {
    fault: edited('/returns/trade', (body) => {
      body.data.periods.pop()
    }),
  },
  G20: {
    fault: edited('/returns/trade', ({ data: { periods } }) => {
      periods.find(isUnfiled).b2b = periods.find(isFiled).b2b
    }),
  },
  G21: {
    fault: edited('/returns/trade', (body) => {
      body.data.periods.find(isFiled).b2b[0].ctin = '07AABCT9012E2ZL'
    }),
  },
  G22: {
    fault: edited('/returns/outward-supplies', (body) => {
      body.data.periods[1].period = body.data.periods[0].period
    }),
  },
  G23: {
    fault: edited('/accounts', (body) => {
      body.data.Account[0].Transactions.Transaction[0].transactionTimestamp = '2001-01-01T10:00:00+05:30'
    }),
  },
  G24: {
    fault: edited('/accounts', (body) => {
      body.data.Account[0].type = 'term_deposit'
    }),
  },
  G25: {
    fault: edited('/companies', (body) => {
      body.data.directorName = 'A person'
    }),
  },
  G26: {
    warns: true,
    fault: edited('/companies', (body) => {
      body.data.emailHashes = [sha256('accounts@example.com')]
    }),
  },
  G27: {
    warns: true,
    fault: edited('/taxpayers', (body) => {
      delete body.upstream
    }),
  },
  G28: {
    warns: true,
    fault: (call, reply) =>
      call.path.startsWith('/exporter-codes') && call.method === 'GET'
        ? { status: 429, body: { code: 'UPSTREAM_ERROR' } }
        : reply,
  },
}

for (const [check, { fault, warns = false }] of Object.entries(faults)) {
  test(`a gateway with the fault of ${check} fails that check only`, async (t) => {
    const { failed, warned, text } = await failuresOf(fault)
    const others = check === 'G28' ? failed.filter((name) => name !== 'G13') : failed
    t.deepEqual(others, warns ? [] : [check])
    t.deepEqual(warned, warns ? [check] : [])
    for (const identifier of [ids.gstin, ids.pan, ids.cin, HANDLE]) t.false(text.includes(identifier), text)
  })
}

test('no more requests are sent than the limit allows', async (t) => {
  await using gateway = await gatewayWith((_, reply) => reply)
  await using client = openProviderHttp()
  const { rows, requests } = await checkGateway({
    url: gateway.url,
    token: TOKEN,
    ids,
    maxCalls: 5,
    http: client.http,
    now: Date.now,
    pause: async () => {},
  })
  t.is(requests, 5)
  t.is(rows.at(-1)?.detail, '--max-calls 5 is reached')
})
