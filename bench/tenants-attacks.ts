import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ristretto255_oprf } from '@noble/curves/ed25519.js'
import type { Knex } from 'knex'
import { storeNewKey } from '#shared/monitoring/operations/keys.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { openToken } from './packs.ts'
import { signIn } from './pages.ts'
import { addChecks, type BenchStack } from './stack.ts'

const MAIL_BYTES = 8_000_000
const MAX_WAIT_MS = 60_000
const PARTIES = {
  mode: 'DEMO',
  buyerGstin: '27AAACB1234C1ZF',
  borrowerGstin: '29AAACR5678D1Z5',
  subcontractorGstin: '24AAFFS4321K1ZA',
  poValue: 1_250_000,
}
const TOOL_CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'gstin_validate',
    arguments: { gstin: PARTIES.buyerGstin },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
})
/** Maximum batch size of a blind evaluation. */
const BATCH = 64
const FAMILIES = ['risk-signals', 'agents', 'first-financing'] as const
const PAGE_TOKEN = '0123456789abcdef012345'
const JSON_TYPE = { 'content-type': 'application/json' }

/**
 * Prepares the attacker: a project with a member, an API client, and all stored objects.
 * @returns the attacks by name; each runs completely or throws
 */
export async function arm(stack: BenchStack, port: number): Promise<Record<string, () => Promise<unknown>>> {
  const base = `http://127.0.0.1:${port}`
  const { project, mailed } = await store(stack.db)
  const rwKey = await storeNewKey(stack.db, project, 'rw', { secrets: createSecrets(stack.env.SECRET_KEY ?? '') })
  const cookie = await signIn(stack)
  const authorized = { authorization: `Bearer ${await openToken(stack, port, FAMILIES)}` }
  const key = { 'X-Api-Key': rwKey }
  const agent = await agentHeaders(base, authorized)
  const members = Object.fromEntries(Array.from({ length: 90_000 }, (_, n) => [`m${n}`, 0]))
  const object = JSON.stringify({ object: members })
  const { epochs } = JSON.parse(await ask(`${base}/v1/first-financing/oprf/key`, [200], { headers: authorized }))
  const epoch = Number(epochs[0].epoch)
  const blinded = Array.from({ length: BATCH }, () => Buffer.from(blindedElement()).toString('hex'))
  const large = JSON.stringify({ x: Array.from({ length: 250_000 }, () => ({ k: 1 })) })
  const checks = `${base}/api/v3/checks/`
  let addresses = 0
  const fromAnywhere = () => ({ 'x-forwarded-for': `192.0.2.${++addresses % 250}` })
  const requestPack = (more: object) =>
    ask(`${base}/v1/po/risk-signals`, [200, 202], {
      method: 'POST',
      headers: { ...JSON_TYPE, ...authorized, 'x-idempotency-key': randomUUID() },
      body: JSON.stringify({ ...PARTIES, ...more }),
    })
  return {
    'H1 page of a stored mail': () =>
      Promise.all(
        ['', '/mail'].map((end) => ask(`${base}/checks/${mailed}/pings/1${end}`, [200], { headers: { cookie } })),
      ),
    async 'H2 PDF of a pack'() {
      const { packId } = JSON.parse(await requestPack({ eInvoices: [unsignedInvoice()] }))
      await untilOk(`${base}/v1/po/risk-signals/packs/${packId}/pdf`, authorized)
    },
    'H3 public verification': () =>
      times(10, () => ask(`${base}/v1/anchors/verify`, [200], post(fromAnywhere(), object))),
    // A header cannot contain this consent. The failure must not count against a registry.
    'H4 consents that cannot be sent': () =>
      times(3, () =>
        ask(`${base}/v1/po/risk-signals`, [400], {
          method: 'POST',
          headers: { ...JSON_TYPE, ...authorized, 'x-idempotency-key': randomUUID() },
          body: JSON.stringify({ ...PARTIES, consents: { gst: '€' } }),
        }),
      ),
    'H5 long descriptions': () => times(8, () => ask(`${base}/api/v3/checks/`, [200], { headers: key })),
    'agent tools, a thousand calls a second of one key': () =>
      withinSecond(1_000, () =>
        ask(`${base}/mcp`, [200, 429], { method: 'POST', headers: { ...JSON_TYPE, ...agent }, body: TOOL_CALL }),
      ),
    'blind evaluation, batches of 64': () =>
      times(3, () =>
        ask(`${base}/v1/first-financing/oprf/evaluate`, [200], {
          method: 'POST',
          headers: { ...JSON_TYPE, ...authorized, 'x-idempotency-key': randomUUID() },
          body: JSON.stringify({ epoch, blinded }),
        }),
      ),
    'N1 bodies of 2 MB without a key, twelve at once': () =>
      times(12, () => ask(checks, [401, 413, 503], post({}, large))),
    'N1 the same with a key': () => times(12, () => ask(checks, [400, 413, 429, 503], post(key, large))),
    'N3 badges of 4,800 tags, four at once': () =>
      times(4, () => ask(`${base}/api/v3/badges/`, [200, 429], { headers: key })),
    'N4 a hundred visitors of a status page': () =>
      times(100, () => ask(`${base}/status/${PAGE_TOKEN}`, [200], { headers: fromAnywhere() })),
    'H6 list of integrations': () =>
      ask(`${base}/api/v3/checks/${mailed}`, [400], {
        method: 'POST',
        headers: key,
        body: JSON.stringify({ channels: 'z,'.repeat(450_000) }),
      }),
  }
}

function blindedElement(): Uint8Array {
  return ristretto255_oprf.voprf.blind(Uint8Array.from(randomBytes(20))).blinded
}

/** Creates an agent key and returns the headers of a tool call in MCP revision 2026-07-28. */
async function agentHeaders(base: string, authorized: Record<string, string>): Promise<Record<string, string>> {
  const made = await ask(`${base}/v1/agents/keys`, [201], {
    method: 'POST',
    headers: { ...JSON_TYPE, ...authorized, 'x-idempotency-key': randomUUID() },
    body: JSON.stringify({ name: 'bench', scopes: ['agents:invoke'] }),
  })
  return {
    authorization: `Bearer ${JSON.parse(made).key}`,
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'gstin_validate',
  }
}

const post = (headers: Record<string, string>, body: string): RequestInit => ({
  method: 'POST',
  headers: { ...JSON_TYPE, ...headers },
  body,
})

/** Stores a mail of line ends, descriptions of maximum length, many tags, a status page and 1,000 integrations. */
async function store(db: Knex): Promise<{ project: number; mailed: string }> {
  const [mailed = ''] = await addChecks(db, 60)
  const { id, project_id: project } = await db('checks').where({ uuid: mailed }).first('id', 'project_id')
  const mail = Buffer.concat([Buffer.from('Subject: endless\r\n\r\n'), Buffer.alloc(MAIL_BYTES, '\r\n')])
  await db.raw(
    `INSERT INTO pings (check_id, slot, n, type, at, scheme, method, ua, body)
     VALUES (?, 1, 1, 'success', now(), 'email', '', '', ?)`,
    [id, mail],
  )
  await db('checks').where({ id }).update({ n_pings: 1 })
  await db('checks')
    .where({ project_id: project })
    .update({ description: 'x'.repeat(10_000) })
  await db.raw(
    `UPDATE checks SET tags = (SELECT string_agg('t' || checks.id || '-' || n, ' ') FROM generate_series(1, 80) n)
     WHERE project_id = ?`,
    [project],
  )
  await db('status_pages').insert({ project_id: project, token: PAGE_TOKEN, title: 'Acme', is_grouped: true })
  await db.raw(
    `INSERT INTO integrations (project_id, kind, name, sealed_config)
     SELECT ?, 'email', 'channel ' || n, '' FROM generate_series(1, 1000) n`,
    [project],
  )
  return { project, mailed }
}

function unsignedInvoice(): string {
  const data = {
    SellerGstin: PARTIES.borrowerGstin,
    BuyerGstin: PARTIES.buyerGstin,
    DocNo: 'A1',
    DocTyp: 'INV',
    DocDt: '01/06/2026',
    TotInvVal: 1_000,
    Irn: 'x'.repeat(36_000),
    IrnDt: '2026-06-01 10:00:00',
  }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${encode({ alg: 'none', kid: 'x' })}.${encode({ data: JSON.stringify(data), iss: 'NIC' })}.x`
}

const times = (count: number, work: () => Promise<unknown>) => Promise.all(Array.from({ length: count }, work))

/** Sends the requests evenly spaced, without waiting for responses. */
async function withinSecond(count: number, work: () => Promise<unknown>): Promise<void> {
  const started = performance.now()
  const running: Promise<unknown>[] = []
  while (running.length < count) {
    const due = Math.min(count, Math.ceil((performance.now() - started) * (count / 1_000)))
    while (running.length < due) running.push(work())
    await sleep(5)
  }
  await Promise.all(running)
}

/** Waits until the document is rendered, which happens after its pack is in the log; until then the status is 202. */
async function untilOk(url: string, headers: Record<string, string>): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS
  while (performance.now() < deadline) {
    const answer = await fetch(url, { headers })
    await answer.arrayBuffer()
    if (answer.status === 200) return
    if (answer.status !== 202) throw new Error(`${url} answered ${answer.status}`)
    await sleep(50)
  }
  throw new Error(`${url} answered nothing but 202 for a minute`)
}

/** @throws Error for another status, because a failed attack measures nothing */
async function ask(url: string, statuses: readonly number[], init: RequestInit): Promise<string> {
  const answer = await fetch(url, init)
  const text = await answer.text()
  if (!statuses.includes(answer.status)) throw new Error(`${url} answered ${answer.status}: ${text.slice(0, 300)}`)
  return text
}
