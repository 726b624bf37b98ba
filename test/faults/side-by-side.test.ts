import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ConsumeMessage } from 'amqplib'
import test from 'ava'
import { workQueues } from '#shared/contracts/topology.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { root } from '../support/imports.ts'
import { listeningPort, openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, backlogEmpty, Ledger, LONG_LOG, sendPings } from './ledger.ts'
import { previousRelease } from './previous-release.ts'

const ROUND = 60

test.serial('the previous release and this one work together while processes are replaced', async (t) => {
  await using previous = await previousRelease()
  if (previous === null) {
    t.pass('no history here')
    return
  }
  const known = (folder: string) => readdirSync(join(folder, 'migrations')).length
  t.true(known(previous.folder) <= known(root), 'it runs on a newer schema')
  await using sink = await openHttpSink()
  await using product = await openProduct({ env: { PING_SHARDS: '1', ...LONG_LOG } })
  const project = await product.project()
  const deps = { db: product.db, secrets: createSecrets(product.config.secretKey) }
  const checks = await Promise.all(Array.from({ length: 10 }, () => addCheck(deps, project.id)))
  await notify(product.db, checks, [await addWebhook(deps, project.id, sink.url)])

  const names = ['ping-evaluator', 'sweeper', 'notifier']
  const oldListener = product.spawn('ingress', [], {}, previous.folder)
  const oldWorkers = product.spawn('workers', names, {}, previous.folder)
  const bases = [(await product.ingress()).base, `http://127.0.0.1:${await listeningPort(oldListener)}`]
  await eventually('the workers of the previous release to apply a ping', () =>
    oldWorkers.output().includes('process.ready'),
  )
  const answers = async () => Promise.all(bases.map(async (base) => (await fetch(`${base}/readyz`)).status))
  await eventually('both listeners to be ready', async () => (await answers()).every((status) => status === 200))

  const ledger = new Ledger()
  const round = async () => {
    let count = 0
    const base = () => bases[count % 2] ?? ''
    const uuids = checks.map(({ uuid }) => uuid)
    await sendPings({ base, checks: uuids, connections: 4, ledger, more: () => count++ < ROUND })
    t.deepEqual(await auditPings(product, ledger), [])
  }
  const [first, second] = checks
  await round()
  await fetch(`${bases[0]}/ping/${first?.uuid}/fail`)
  await fetch(`${bases[1]}/ping/${second?.uuid}/fail`)
  await sink.waitFor(2)

  // This release processes the messages of the former release and of its listener.
  const workers = await product.workers(names)
  t.is(await oldWorkers.stop(), 0)
  await round()
  await sink.waitFor(4)

  // Then the update is rolled back.
  const again = product.spawn('workers', names, {}, previous.folder)
  await eventually('the previous release to be ready again', () => again.output().includes('process.ready'))
  await workers[Symbol.asyncDispose]()
  await round()
  await fetch(`${bases[0]}/ping/${first?.uuid}/fail`)
  await sink.waitFor(5)

  const notified = sink.requests.map(({ path, body }) => `${path} ${body}`).toSorted()
  const wanted = [first, second].flatMap((check) => [`/down ${check?.uuid}`, `/up ${check?.uuid}`])
  t.deepEqual(notified, [...wanted, `/down ${first?.uuid}`].toSorted(), 'each change is notified once')
  t.deepEqual([...ledger.answers.keys()], ['200'])
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  const dead = await Promise.all(workQueues(1).map((queue) => probe.depth(`${queue}.dead`)))
  t.deepEqual(
    dead.filter((depth) => depth > 0),
    [],
  )
})

test.serial('pings of a newer release wait for it, and later pings keep their order', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '1' } })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  const worker = await product.workers(['ping-evaluator'])
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  const ledger = new Ledger()
  const ping = async (count: number) => {
    let left = count
    const more = () => left-- > 0
    await sendPings({ base: () => base, checks: [check.uuid], connections: 1, ledger, more })
  }
  await ping(5)
  await backlogEmpty(product)
  const body = Buffer.from(JSON.stringify({ v: 2, of: 'another shape' }))
  const headers = { v: 2 }
  await probe.put('pings.0', body, { persistent: true, headers, timestamp: Math.floor(Date.now() / 1000) })
  await eventually('the worker to leave the queue to a newer release', () =>
    worker.broker.problems().includes('consumer of pings.0: leaves a message to a newer release: update this process'),
  )
  await ping(5)
  t.is(Number((await product.db('checks').first('n_pings')).n_pings), 5, 'later pings stay behind it')
  t.is(await probe.depth('pings.0.dead'), 0)

  // A newer release starts and reads the queue.
  await probe.channel.prefetch(1)
  const taken = await new Promise<ConsumeMessage>((resolve) => {
    void probe.channel.consume('pings.0', (message) => message && resolve(message))
  })
  await probe.channel.cancel(taken.fields.consumerTag)
  probe.channel.ack(taken)
  t.is(taken.content.toString(), body.toString())
  await product.workers(['ping-evaluator'])
  t.deepEqual(await auditPings(product, ledger), [])
  t.is(ledger.count('accepted'), 10)
})
