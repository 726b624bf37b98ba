import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertMembership, insertUser } from '#shared/tenancy/accounts/store.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openClient, send } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { HEADER, note } from '../api-risk/imports-support.ts'
import { type Caller, callerOf, type Examples } from './example-caller.ts'
import { recordFamilies } from './record-families.ts'
import { recordOnCall } from './record-on-call.ts'

/** Part of signed texts. */
const PUBLIC_URL = 'https://signalbox.example.org'
const WORKERS = [
  ...['ping-evaluator', 'alerter', 'notifier', 'pack-composer', 'tape-importer', 'webhook-deliverer', 'anchor'],
  ...['kyb-verifier', 'identity-verifier', 'financing-registrar', 'acceptance-recorder', 'provenance-composer'],
  ...['dilution-measurer', 'pool-builder'],
]

/**
 * Returns real responses: runs jobs, an incident, packs, a loan tape, webhooks and verifications on a new installation.
 */
export async function recordExamples(): Promise<Examples> {
  await using sink = await openHttpSink()
  const checkpoints = await mkdtemp(join(tmpdir(), 'checkpoints-'))
  const env = { PUBLIC_URL, CHECKPOINT_DIR: checkpoints }
  await using product = await openProduct({ listener: 'http', env, workers: WORKERS })
  const base = `http://127.0.0.1:${product.port}`
  const { project, rwKey } = await addProject(product.deps)
  await product.db('projects').where({ id: project.id }).update({ name: 'Backups' })
  for (const name of ['anna', 'ben']) {
    const user = await insertUser(product.db, { email: `${name}@example.org`, name, passwordHash: null })
    if (!user) throw new Error(name)
    const { organisationId } = project
    await insertMembership(product.db, { organisationId, userId: user.id, role: 'member' })
  }
  const sandbox = await openClient(product, base, { name: 'Lender' })
  const production = await openClient(product, base, { name: 'Lender', env: 'PRODUCTION' })
  const examples: Examples = {}
  const callerWith = callerOf(base, examples)
  const withToken = ({ token }: { token: string }) => callerWith({ authorization: `Bearer ${token}` })
  await recordMonitoring(callerWith({ 'x-api-key': rwKey }), base, sink.url)
  await recordEvidence(withToken(sandbox))
  const { clientId, clientSecret } = sandbox.credentials
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  await callerWith({})('issueToken', { body: String(new URLSearchParams(form)) })
  await recordFamilies({
    base,
    client: sandbox,
    call: withToken(sandbox),
    other: withToken(await openClient(product, base, { name: 'Factor' })),
    consumer: callerWith({ 'x-api-key': String(sandbox.credentials.apiKey) }),
  })
  await recordWebhooks(withToken(production), sink.url)
  const text = JSON.stringify(examples).replaceAll(sink.url, 'https://receiver.example.org')
  return JSON.parse(withoutSecrets(text))
}

function withoutSecrets(text: string): string {
  return text
    .replaceAll(/whsec_[\w+/]{43}=/g, `whsec_${'A'.repeat(43)}=`)
    .replaceAll(/"(access_token|transferToken)":"([^"]{0,11})[\w.-]*"/g, '"$1":"$2..."')
    .replaceAll(/"key":"(rsk_\w{8})\w*"/g, '"key":"$1..."')
}

/** Records a check that two machines ping. It comes first, because later checks replace its other examples. */
async function recordSources(call: Caller, base: string): Promise<void> {
  const { uuid } = await call('createCheck', { body: { name: 'Log rotation', slug: 'log-rotation' } })
  const params = { uuid }
  await call('updateRules', { params, body: { sources: { by: 'query', expect: ['web1', 'web2'], need: 1 } } })
  await send(`${base}/ping/${uuid}?source=web1`)
  await eventually('the ping of a source', async () => {
    const { sources } = await call('listSources', { params, isOwn: true })
    return sources.some((source: { last_ping: string | null }) => source.last_ping !== null)
  })
  await call('deleteSource', { params: { uuid, source: 'web1' }, isOwn: true })
}

async function recordMonitoring(call: Caller, base: string, receiver: string): Promise<void> {
  await recordSources(call, base)
  const hook = { url_down: `${receiver}/hook?check=$SLUG`, url_up: `${receiver}/hook?check=$SLUG` }
  await call('createIntegration', { body: { kind: 'webhook', name: 'Chat bot', config: hook } })
  const { uuid } = await call('createCheck', { isOwn: true })
  const params = { uuid }
  await call('updateCheck', { params, body: { channels: '*' } })
  await call('updateRules', { params, body: { run: { watch: 'each', max: 21_600, min: 10 } } })
  const ping = (path: string, body?: string) =>
    send(`${base}/ping/${uuid}${path}`, {
      method: 'POST',
      headers: { 'user-agent': 'curl/8.14.1' },
      ...(body && { body }),
    })
  const rid = '?rid=5b1d6a2e-3f0c-4d7b-9a51-2c8e7f4b0d13'
  await ping(`/start${rid}`)
  await ping(rid, '12 GB copied')
  await ping('/1', 'No space left on device')
  const [{ id }] = await eventually('an incident', async () => {
    const { incidents } = await call('listIncidents', { query: '?state=alerting' })
    return incidents.length > 0 && incidents
  })
  const [integration] = (await call('listIntegrations')).channels
  await eventually('a sent notification', async () => {
    const { notifications } = await call('listIntegrationNotifications', { params: { uuid: integration.id } })
    return notifications[0]?.state === 'delivered'
  })
  await call('getIntegration', { params: { uuid: integration.id } })
  await call('noteIncident', { params: { incident: id } })
  await call('ackIncident', { params: { incident: id } })
  for (const read of ['listPings', 'listFlips', 'listRuns', 'getRunStats', 'listSources', 'getUptime', 'getRules']) {
    await call(read, { params })
  }
  await call('listDecisions', { params })
  await call('getIncident', { params: { incident: id } })
  await call('listIncidents')
  await call('getCheck', { params })
  await call('listBadges', { isOwn: true })
  const writes = ['createPolicy', 'createWindow', 'simulate']
  for (const name of writes) await call(name)
  const { plan, digest } = await call('planImportFromCronitor')
  await call('applyImportFrom', { params: { plan }, query: `?digest=${digest}` })
  await call('importProject', { query: '?plan=1' })
  await recordOnCall(call)
  for (const name of ['previewSchedule', 'getOnCall', 'listOnCallPeople', 'exportProject', 'getProvisioning'])
    await call(name)
}

async function recordEvidence(call: Caller): Promise<void> {
  const pack = await call('requestPack')
  const params = { packId: pack.packId, txId: pack.anchor.txId }
  await eventually('the anchor to be included', async () => (await call('getAnchor', { params })).state !== 'PENDING')
  await call('getPack', { params, isOwn: true })
  await call('listPacks')
  await call('getPackEvidence', { params })
  await call('verifyAnchor', { body: { object: pack } })
  await call('getInclusionProof', { query: `?hash=${pack.anchor.txId}`, isOwn: true })
  const { importId } = await call('uploadLoanTape', {
    body: [HEADER, note('1001'), note('1002', '2500.5'), note('1003', 'unknown')].join('\n'),
  })
  const tape = { params: { importId, n: 0 } }
  await eventually(
    'the import to end',
    async () => (await call('readLoanTape', tape)).status === 'COMPLETED_WITH_ERRORS',
  )
  for (const read of ['listLoanTapes', 'listLoanTapeErrors', 'listLoanTapeRows', 'proveLoanTapeRow'])
    await call(read, tape)
  const { subjectId } = await call('createSubject')
  await call('verifySubject', { params: { subjectId } })
  const requests = [
    'verifyBusiness',
    'verifyIec',
    'checkReceivable',
    'registerReceivable',
    'recordTradeDocument',
    'recordAcceptance',
  ]
  for (const request of requests) await call(request)
  for (const read of ['getUsage', 'listWebhookEvents', 'readSandboxInbox']) await call(read)
  await call('getConsistencyProof', { query: '?from=1', isOwn: true })
  const documents = ['getJwks', 'getAuthorizationServerMetadata', 'getToolsResourceMetadata', 'getPassportIssuer']
  for (const document of documents) await call(document, { isOwn: true })
}

async function recordWebhooks(call: Caller, receiver: string): Promise<void> {
  const { id } = await call('createWebhookEndpoint', {
    body: { url: `${receiver}/hooks`, eventTypes: ['risk_signals.*'] },
  })
  const { deliveryId } = await call('testWebhookEndpoint', { params: { endpointId: id }, isOwn: true })
  await eventually('the delivery', async () => {
    const delivery = await call('getWebhookDelivery', { params: { deliveryId }, isOwn: true })
    return delivery.state === 'DELIVERED'
  })
  await call('listWebhookDeliveries', { params: { endpointId: id } })
  await call('listWebhookEndpoints')
}
