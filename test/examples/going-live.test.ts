import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { pages } from '../support/doc-blocks.ts'
import { freePort } from '../support/free-port.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { root } from '../support/imports.ts'
import { openClient } from '../support/platform-client.ts'
import { openProduct } from '../support/product.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { compileCache, readTypescript } from '../support/typescript-process.ts'
import { sampleEnv, sampleOf } from './registry-gateway-samples.ts'
import { openProviders } from './registry-providers.ts'
import { blocksRunBy, openPrograms, shell } from './walkthrough.ts'

const PAGE = 'docs/registries/going-live.md'

/** Matches an expected output; `...` in it is any text of a line. */
function patternOf(expected: string): RegExp {
  const text = expected.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${text.replaceAll(String.raw`\.\.\.`, '.*')}$`)
}

/** Makes `npm run -s gateway` and `gateway-check` for the PATH; other scripts are those of the product, once open. */
function openGatewayPrograms(): string {
  const bin = temporaryFolder('gateway-programs')
  const node = `'${process.execPath}' '${readTypescript}'`
  const folder = join(root, 'examples/registry-gateway')
  const cache = Object.entries(compileCache()).map(([name, value]) => `export ${name}='${value}'`)
  const lines = [
    '#!/bin/sh',
    ...cache,
    'case "$3" in',
    `gateway) shift 4; exec ${node} '${folder}/main.ts' "$@" ;;`,
    `gateway-check) shift 4; exec ${node} '${folder}/check.ts' "$@" ;;`,
    '*) exec "$PRODUCT_BIN/npm" "$@" ;;',
    'esac',
  ]
  writeFileSync(join(bin, 'npm'), `${lines.join('\n')}\n`, { mode: 0o755 })
  return bin
}

test('the ten steps lead from credentials to a verified production pack', async (t) => {
  t.true(pages().includes(PAGE))
  await using providers = await openProviders()
  await using sink = await openHttpSink()
  await using closing = new AsyncDisposableStack()
  const folder = temporaryFolder('going-live')
  const port = await freePort()
  const variables: Record<string, string> = { bin: openGatewayPrograms(), cwd: folder }
  placeDownloads(folder)
  closing.defer(() => stopGateway(folder))

  const blocks = blocksRunBy(PAGE, import.meta.filename)
  t.is(blocks.length, 20)
  for (let step = 1; step <= 10; step++) {
    const [script, expected] = blocks.slice(2 * step - 2, 2 * step)
    if (step === 2) placeCredentials(folder)
    if (step === 9) await openSignalbox()
    // Commands of the operator run in this process, which has another working directory.
    const text = placed(script?.text ?? '').replace(
      '--certificate certificates',
      `--certificate ${folder}/certificates`,
    )
    const { code, out } = await shell(text, { ...variables })
    const at = `${script?.at}\n${out}\n${step === 3 ? '' : logOf(folder)}`
    t.is(code, 0, at)
    t.regex(out.trim(), patternOf(placed(expected?.text ?? '')), at)
    if (step === 2) pointAtProviders()
  }

  const pack = JSON.parse(readFileSync(join(folder, 'pack.json'), 'utf8'))
  t.is(pack.signals.tradeRelationship.ab.invoiceCount, 24)
  t.is(pack.signals.tradeRelationship.ab.totalValueInr, 12 * 403_000)
  t.is(pack.signals.borrowerCapacity.annualTurnoverInr, 18_900_006)
  t.is(pack.signals.subcontractorCapacity.annualTurnoverInr, 9_300_006)
  t.is(pack.signals.aaCashflow.balanceTier, 'SILVER')
  t.true(pack.flags.includes('tradeRelationship.ab: credit notes and amendments are not in this source'))
  const event = await sink.waitFor(({ body }) => body.toString().includes('risk_signals.pack_ready'))
  t.like(JSON.parse(event.body.toString()), { event: 'risk_signals.pack_ready', mode: 'live' })
  const settings = 'set -a; . ./gateway.env\n'
  const second = await shell(`${settings}npm run -s gateway -- serve`, variables)
  t.is(second.code, 2)
  t.regex(second.out, /in use by process [0-9]+; one process per folder/)
  t.is((await shell(`${settings}npm run -s gateway -- health`, variables)).code, 0)
  const stop = 'kill "$(cat gateway.pid)"; timeout 30 tail --pid="$(cat gateway.pid)" -f /dev/null; tail -1 gateway.log'
  t.is((await shell(stop, variables)).code, 0)
  // One session for each consent, although a pack has five requests that need them.
  t.is(providers.calls.filter((call) => call === 'POST /setu/sessions').length, 2)

  function placed(text: string): string {
    return text.replaceAll('8095', String(port)).replaceAll('http://localhost:8080', variables.BASE_URL ?? '')
  }

  function pointAtProviders(): void {
    const { GLEIF_URL, ...rest } = providers.env
    const file = join(folder, 'gateway.env')
    const settings = readFileSync(file, 'utf8').replace(/^GLEIF_URL=.*$/m, `GLEIF_URL=${GLEIF_URL}`)
    const more = Object.entries({ ...rest, GATEWAY_PORT: String(port) }).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(file, settings + more.join(''))
  }

  async function openSignalbox(): Promise<void> {
    const REGISTRIES = readFileSync(join(folder, 'registries.env'), 'utf8').trim().slice('REGISTRIES='.length)
    const workers = ['ping-evaluator', 'sweeper', 'pack-composer', 'anchor', 'webhook-deliverer']
    const env = { REGISTRIES, CHECKPOINT_DIR: temporaryFolder('checkpoints') }
    const product = closing.use(await openProduct({ listener: 'http', hasRowSecurity: true, workers, env }))
    const client = await openClient(product, product.url, { env: 'PRODUCTION' })
    await client.post('/v1/webhooks/endpoints', { url: `${sink.url}/hooks`, eventTypes: ['*'] })
    variables.BASE_URL = product.url
    variables.PRODUCT_BIN = await openPrograms(product, closing)
    variables.CLIENT_ID = client.credentials.clientId
    variables.CLIENT_SECRET = client.credentials.clientSecret
  }
})

function placeCredentials(folder: string): void {
  const credentials = {
    'sandbox-key': sampleEnv.SANDBOX_API_KEY,
    'sandbox-secret': sampleEnv.SANDBOX_API_SECRET,
    'setu-client': sampleEnv.SETU_CLIENT_ID,
    'setu-secret': sampleEnv.SETU_SECRET,
    'setu-instance': sampleEnv.SETU_PRODUCT_INSTANCE,
  }
  for (const [name, value] of Object.entries(credentials)) writeFileSync(join(folder, 'secrets', name), `${value}\n`)
}

/** The certificate and the invoice of step 9. */
function placeDownloads(folder: string): void {
  mkdirSync(join(folder, 'certificates'))
  for (const [name, text] of Object.entries(sampleOf('einvoice-keys', 'good').files ?? {}))
    writeFileSync(join(folder, name), text)
}

function logOf(folder: string): string {
  try {
    return readFileSync(join(folder, 'gateway.log'), 'utf8').slice(-2000)
  } catch {
    return ''
  }
}

function stopGateway(folder: string): void {
  try {
    process.kill(Number(readFileSync(join(folder, 'gateway.pid'), 'utf8')))
  } catch {
    // A step before the start failed.
  }
}
