import { spawn } from 'node:child_process'
import test from 'ava'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { insertCheck } from '#shared/monitoring/checks/store.ts'
import { addProjectOf, makeKey } from '../ingress/mcp/agents.ts'
import { openClient } from '../support/platform-client.ts'
import { openProduct } from '../support/product.ts'

test('the example agent lists, explains, composes, verifies and is refused, and all of it is in audit and usage', async (t) => {
  await using product = await openProduct({ isBound: true })
  const { base } = await product.ingress()
  await product.workers(['ping-evaluator', 'alerter', 'pack-composer', 'anchor'])
  const owner = await openClient(product, base)
  const project = await addProjectOf(product, owner)
  const check = await insertCheck(product.db, project.id, { ...DEFAULT_SETTINGS, name: 'nightly' })
  await fetch(`${base}/ping/${check.uuid}`)
  await fetch(`${base}/ping/${check.uuid}/fail`)
  const scopes = ['agents:invoke', 'monitoring:read', 'risk-signals:run', 'risk-signals:read']
  const { key } = await makeKey(owner, { scopes, projects: [project.uuid] })

  const { code, out } = await run(['--base', base], { AGENT_KEY: key })
  t.is(code, 0, out)
  t.regex(out, /check: nightly is down\n {2}went down at /)
  t.regex(out, /anchor: verified, INCLUDED/)
  t.regex(out, /refused: .*check_create needs the scope monitoring:write/)
  const { json } = await owner.get('/v1/agents/calls')
  const tools = new Set(json.calls.map(({ tool }: { tool: string }) => tool))
  t.deepEqual([...tools].toSorted(), ['alert_explain', 'anchor_verify', 'checks_list', 'risk_signals_run'])
  t.like((await owner.get('/v1/usage')).json.usage, [{ family: 'risk-signals', units: 1 }])

  t.is((await run(['--base', base], { AGENT_KEY: `${key}x` })).code, 1)
  t.is((await run([], {})).code, 2)
})

async function run(args: string[], env: Record<string, string>): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/agent/main.ts', ...args], { env })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out }
}
