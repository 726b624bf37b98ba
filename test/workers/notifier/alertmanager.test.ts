import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import test from 'ava'
import { z } from 'zod'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import { insertIntegration } from '#shared/monitoring/integrations/store.ts'
import { notify } from '../../support/alerts.ts'
import { blocksOf } from '../../support/doc-blocks.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const [checkBlock = '', configBlock = '', webhookBlock = ''] = blocksOf('docs/alertmanager.md').map(({ text }) => text)
const recorded: { alive: object[]; alerts: object[] } = JSON.parse(
  readFileSync(new URL('../../vectors/alertmanager-requests.json', import.meta.url), 'utf8'),
)

/** The program of Debian's package; undefined if it is not installed, then its recorded requests are sent. */
const program = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'prometheus-alertmanager'))
  .find((path) => existsSync(path))

/** Starts Alertmanager with intervals of a second. @returns its address */
async function startAlertmanager(resources: AsyncDisposableStack, config: string): Promise<string> {
  const folder = temporaryFolder('alertmanager')
  const file = join(folder, 'config.yaml')
  writeFileSync(file, config.replace(/: \d+[mh]$/gm, ': 1s').replace('route:', 'route:\n  group_interval: 1s'))
  const port = await freePort()
  const listen = [`--web.listen-address=127.0.0.1:${port}`, '--cluster.listen-address=']
  const child = spawn(program ?? '', [`--config.file=${file}`, `--storage.path=${folder}`, ...listen], {
    stdio: 'ignore',
  })
  resources.defer(async () => {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  await eventually('Alertmanager to be ready', async () => {
    const answer = await send(url, '/-/ready').catch(() => null)
    return answer?.status === 200
  })
  return url
}

const post = async (url: string, path: string, body: string) =>
  await send(url, path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })

test('a message of Alertmanager keeps one check up and takes another down', async (t) => {
  await using resources = new AsyncDisposableStack()
  const app = resources.use(await openProduct({ listener: 'http' }))
  const { rwKey } = await addProject(app.deps)
  const create = async (body: string) => {
    const answer = await send(app.url, '/api/v3/checks/', { method: 'POST', headers: { 'X-Api-Key': rwKey }, body })
    return z.object({ uuid: z.uuid() }).parse(jsonOf(answer)).uuid
  }
  const [alive, alerts] = [await create('{"timeout": 300, "grace": 600}'), await create(checkBlock)]
  const statusOf = async (uuid: string) => (await app.deps.db('checks').where({ uuid }).first('status'))?.status
  const becomes = (uuid: string, status: string) =>
    eventually(`the check to be ${status}`, async () => (await statusOf(uuid)) === status)
  await send(app.url, `/ping/${alerts}`, { method: 'POST', body: '{"status":"resolved"}' })
  await becomes(alerts, 'up')

  const addresses = [...configBlock.matchAll(/https:\/\/signalbox\S+/g)].map(([address]) => address)
  const [aliveAddress = '', alertsAddress = ''] = addresses
  const config = configBlock
    .replace(aliveAddress, `${app.url}/ping/${alive}`)
    .replace(alertsAddress, `${app.url}/ping/${alerts}`)
  const alertmanager = program ? await startAlertmanager(resources, config) : null
  const sendAlerts = async (index: number, ends: object) => {
    if (!alertmanager) return await post(app.url, `/ping/${alerts}`, JSON.stringify(recorded.alerts[index]))
    const fired = ['DiskFull', 'HostDown'].map((alertname) => ({ labels: { alertname }, ...ends }))
    return await post(alertmanager, '/api/v2/alerts', JSON.stringify(fired))
  }
  if (alertmanager) await post(alertmanager, '/api/v2/alerts', '[{"labels":{"alertname":"Watchdog"}}]')
  else for (const body of recorded.alive) await post(app.url, `/ping/${alive}`, JSON.stringify(body))
  await becomes(alive, 'up')
  await eventually('the watchdog to ping again', async () => {
    const check = await app.deps.db('checks').where({ uuid: alive }).first('n_pings')
    return Number(check?.n_pings) >= 2
  })
  await sendAlerts(0, {})
  await becomes(alerts, 'down')
  await sendAlerts(1, { endsAt: new Date().toISOString() })
  await becomes(alerts, 'up')
  t.is(await statusOf(alive), 'up')
})

const alert = z.object({
  labels: z.record(z.string(), z.string()),
  startsAt: z.string().optional(),
  endsAt: z.string(),
})

test('an outage fires in Alertmanager until the check is up again', async (t) => {
  await using resources = new AsyncDisposableStack()
  const sink = resources.use(await openHttpSink())
  const app = resources.use(
    await openProduct({ listener: 'http', workers: ['ping-evaluator', 'alerter', 'notifier', 'sweeper'] }),
  )
  const alertmanager = program ? await startAlertmanager(resources, configBlock) : null
  const { project } = await addProject(app.deps)
  const name = 'nightly "backup"\nof db1'
  const check = await addCheck(app.deps, project.id, { name })
  const { url: documented, ...bodies } = z.record(z.string(), z.string()).parse(JSON.parse(webhookBlock))
  const target = `${alertmanager ?? sink.url}${new URL(documented ?? '').pathname}`
  const parsed = findKind('webhook')?.parse({ url: target, ...bodies })
  if (!parsed?.ok) throw new Error('the configuration of the page is not valid')
  const integration = await insertIntegration(app.deps.db, {
    projectId: project.id,
    kind: 'webhook',
    name: 'Alertmanager',
    sealedConfig: app.deps.secrets.seal('integration', JSON.stringify(parsed.config)),
  })
  await notify(app.deps.db, [check], [integration])
  const firing = async () => {
    if (!alertmanager) return sink.requests.map(({ body }) => z.tuple([alert]).parse(JSON.parse(body.toString()))[0])
    return z.array(alert).parse(jsonOf(await send(alertmanager, '/api/v2/alerts')))
  }
  await send(app.url, `/ping/${check.uuid}`)
  await send(app.url, `/ping/${check.uuid}/fail`)
  const [down] = await eventually('the alert to fire', async () => {
    const alerts = await firing()
    return alerts.length > 0 && alerts
  })
  t.deepEqual(down?.labels, { alertname: 'CheckDown', check: name, id: check.uuid })
  t.regex(down?.endsAt ?? '', /^2100-01-01T00:00:00/)
  await send(app.url, `/ping/${check.uuid}`)
  if (alertmanager) {
    await eventually('the alert to be resolved', async () => (await firing()).length === 0)
    return
  }
  const [, up] = await eventually('the second request', async () => {
    const alerts = await firing()
    return alerts.length > 1 && alerts
  })
  t.deepEqual(up?.labels, down?.labels)
  t.true(Date.parse(up?.endsAt ?? '') <= Date.now())
  t.is(sink.requests[0]?.path, '/api/v2/alerts')
  for (const { headers, body } of sink.requests) {
    t.is(headers['content-type'], 'application/json')
    t.true(body.length < 1_000)
  }
})
