import { spawn } from 'node:child_process'
import test from 'ava'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { insertCheck } from '#shared/monitoring/checks/store.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { addProjectOf, makeKey } from '../ingress/mcp/agents.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openClient } from '../support/platform-client.ts'
import { compileCache, readTypescript } from '../support/typescript-process.ts'
import { sharedProduct } from './walkthrough.ts'

test('the example agent lists, explains, composes, verifies and is refused, and all of it is in audit and usage', async (t) => {
  const product = await sharedProduct()
  const { url: base } = product
  await using sink = await openHttpSink()
  const deps = { db: product.db, secrets: createSecrets(product.config.secretKey) }
  const owner = await openClient(product, base)
  const project = await addProjectOf(product, owner)
  const check = await insertCheck(product.db, project.id, { ...DEFAULT_SETTINGS, name: 'nightly' })
  const integration = await addWebhook(deps, project.id, sink.url)
  await notify(product.db, [check], [integration])
  await fetch(`${base}/ping/${check.uuid}`)
  await fetch(`${base}/ping/${check.uuid}/fail`)
  await sink.waitFor(1)
  await eventually('the attempt to be recorded', async () => {
    const [notified] = await product
      .db('notifications')
      .where({ state: 'delivered', integration_id: integration.id })
      .pluck('id')
    return notified !== undefined
  })
  const scopes = ['agents:invoke', 'monitoring:read', 'risk-signals:run', 'risk-signals:read']
  const { key, keyId } = await makeKey(owner, { scopes, projects: [project.uuid] })

  const { code, out } = await run(['--base', base], { AGENT_KEY: key }, '--import=tsx')
  t.is(code, 0, out)
  t.regex(
    out,
    /check: nightly is down\n {2}went down at .+\n {2}webhook: Notified: the receiver took the message\.\n {2}decided: Notified: the check changed/,
  )
  t.regex(out, /anchor: verified, INCLUDED/)
  t.regex(out, /refused: .*check_create needs the scope monitoring:write/)
  const { json } = await owner.get(`/v1/agents/calls?keyId=${keyId}`)
  const outcomes = new Set(json.calls.map((call: { tool: string; code: string }) => `${call.tool} ${call.code}`))
  outcomes.delete('risk_signals_get OK') // requested only if the pack takes long
  t.deepEqual([...outcomes].toSorted(), [
    'alert_explain OK',
    'anchor_verify OK',
    'check_create FORBIDDEN',
    'checks_list OK',
    'risk_signals_run OK',
  ])
  const units = json.calls.reduce((sum: number, call: { units: number }) => sum + call.units, 0)
  t.is(units, 1)
  t.like((await owner.get('/v1/usage')).json.usage, [{ family: 'risk-signals', units: 1 }])
  t.is((await owner.get('/v1/usage')).json.usage.length, 1)
  const ran = json.calls.filter(({ code }: { code: string }) => code === 'OK').length
  t.is((await owner.get(`/v1/agents/keys/${keyId}`)).json.calls, ran)

  t.is((await run(['--base', base], { AGENT_KEY: `${key}x` })).code, 1)
  t.is((await run([], {})).code, 2)
})

/** @param loader the option that makes Node read TypeScript; users pass `--import=tsx`, which takes twice as long */
async function run(args: string[], env: Record<string, string>, loader = readTypescript) {
  const child = spawn(process.execPath, [loader, 'examples/agent/main.ts', ...args], {
    env: { ...compileCache(), ...env },
  })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out }
}
