import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const HELP = `Shows the work of an agent: lists checks, explains an alert, composes a sandbox pack and verifies it.

  AGENT_KEY=rsk_… node --import tsx examples/agent/main.ts --base URL

Exit status: 0 success, 1 a call failed, 2 usage.
`
const DEMO = {
  mode: 'DEMO',
  buyerGstin: '27AAACB1234C1ZF',
  borrowerGstin: '29AAACR5678D1Z5',
  subcontractorGstin: '24AAFFS4321K1ZA',
  poValue: 1_250_000,
}

/** One poll per second. */
const TRIES = 60

type Answer = Record<string, unknown>

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { base: { type: 'string' }, help: { type: 'boolean', short: 'h' } } })
  const key = process.env.AGENT_KEY
  if (values.help || values.base === undefined || key === undefined) {
    console.log(HELP)
    return values.help ? 0 : 2
  }
  const client = new Client({ name: 'example-agent', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  const requestInit = { headers: { Authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', values.base), { requestInit }))
  try {
    const { tools } = await client.listTools()
    console.log(`tools: ${tools.map(({ name }) => name).join(', ')}`)
    await watch(client)
    await lend(client)
    console.log(`refused: ${await refusal(client)}`)
    return 0
  } finally {
    await client.close()
  }
}

/** Lists the checks and explains the notifications of the newest change. */
async function watch(client: Client): Promise<void> {
  const { checks } = await call<{ checks: { checkId: string; name: { text: string }; status: string }[] }>(
    client,
    'checks_list',
    {},
  )
  for (const { checkId, name, status } of checks) {
    console.log(`check: ${name.text} is ${status}`)
    const { flip, integrations, decisions } = await call<{
      flip: Answer | null
      integrations: { kind: string; why: string }[]
      decisions: { why: string }[]
    }>(client, 'alert_explain', { checkId })
    if (flip) console.log(`  went ${String(flip.to)} at ${String(flip.timestamp)}`)
    for (const { kind, why } of integrations) console.log(`  ${kind}: ${why}`)
    for (const { why } of decisions) console.log(`  decided: ${why}`)
  }
}

/** Composes an anchored pack. It is evidence, without a decision to lend. */
async function lend(client: Client): Promise<void> {
  let pack = await call<Answer>(client, 'risk_signals_run', { idempotencyKey: randomUUID(), ...DEMO })
  // With slow registries the call returns after ten seconds, before the pack is complete.
  for (let tries = 0; pack.status === 'QUEUED' && tries < TRIES; tries++) {
    await wait(1_000)
    pack = await call<Answer>(client, 'risk_signals_get', { packId: pack.packId })
  }
  console.log(`pack: ${String(pack.packId)} is ${String(pack.signalLevel ?? pack.status)}`)
  const { status: _, ...object } = pack
  for (let tries = 0; tries < TRIES; tries++) {
    const { state, verified } = await call<Answer>(client, 'anchor_verify', { object })
    if (verified === true && state !== 'PENDING') {
      console.log(`anchor: verified, ${String(state)}`)
      return
    }
    await wait(1_000)
  }
  throw new Error('the anchor is not in the log yet')
}

async function refusal(client: Client): Promise<string> {
  try {
    await client.callTool({ name: 'check_create', arguments: { idempotencyKey: randomUUID(), name: 'mine' } })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  throw new Error('this key creates checks; the example is for one that only reads')
}

async function call<T>(client: Client, name: string, args: Record<string, unknown>): Promise<T> {
  const { isError, structuredContent } = await client.callTool({ name, arguments: args })
  if (isError) throw new Error(`${name}: ${JSON.stringify(structuredContent)}`)
  return structuredContent as T
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  return error instanceof TypeError && 'code' in error && `${error.code}`.startsWith('ERR_PARSE_ARGS') ? 2 : 1
})
