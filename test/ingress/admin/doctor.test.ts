import { randomUUID } from 'node:crypto'
import test from 'ava'
import { areListenersProven, findNotableGap } from '#shared/monitoring/availability/gap-list-store.ts'
import {
  claimWatchdog,
  recordWatchdogProblem,
  recordWatchdogResponse,
} from '#shared/monitoring/availability/watchdog-store.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { commands } from '../../../ingress/admin/registry.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import { makeCredentials } from '../../support/platform-client.ts'
import { openProduct, type Product } from '../../support/product.ts'

async function doctor({ config, db }: Pick<Product, 'config' | 'db'>): Promise<string> {
  const context = async () => ({
    config,
    db,
    secrets: createSecrets(config.secretKey),
    log: createLog('silent', 'test'),
    actor: 'tester',
    [Symbol.asyncDispose]: async () => {},
  })
  return (await runAdmin(['doctor'], commands, context)).stdout
}

test('doctor reports if the external monitor responded recently, and why not', async (t) => {
  await using product = await openProduct({ env: { WATCHDOG_URL: 'https://outside.example/ping/hidden' } })
  const { db, config } = product
  t.regex(
    await doctor({ db, config: { ...config, watchdogUrl: undefined } }),
    /warn\s+WATCHDOG_URL: not set: no external monitor notices/,
  )
  t.regex(await doctor(product), /WRONG\s+WATCHDOG_URL: has never answered: start workers, the sweeper among them/)
  await claimWatchdog(db)
  await recordWatchdogResponse(db)
  t.regex(await doctor(product), /ok\s+WATCHDOG_URL: answers/)
  await recordWatchdogProblem(db, 'the monitor answered 503')
  t.regex(await doctor(product), /ok\s+WATCHDOG_URL: answers/, 'one that was missed is no news yet')
  await db('installation').update({ watchdog_fed_at: db.raw(`now() - interval '181 seconds'`) })
  const text = await doctor(product)
  t.regex(text, /WRONG\s+WATCHDOG_URL: has not answered since 20\S+: the monitor answered 503/)
  t.false(text.includes('hidden'), 'the address may be a secret')
})

test('doctor reports production clients without registries, and a REGISTRIES that workers refuse', async (t) => {
  await using product = await openProduct()
  const { db, config } = product
  t.regex(await doctor(product), /ok\s+REGISTRIES: not set, and no production client needs it/)
  await makeCredentials(product, { env: 'PRODUCTION' })
  t.regex(await doctor(product), /warn\s+REGISTRIES: not set, so production packs of 1 client get no registry data/)
  const reported = async (registries: string) =>
    /.*REGISTRIES: (.*)/.exec(await doctor({ db, config: { ...config, registries } }))?.[1]
  t.is(await reported('{"taxReturns":{"url":"http://gateway.example"}}'), 'connects 1 registry')
  t.is(await reported('{"lei": "hidden'), 'REGISTRIES is not JSON')
  t.regex(
    (await reported('{"taxReturns":{"url":"https://gateway.example","token":["hidden"]}}')) ?? '',
    /^REGISTRIES is invalid: taxReturns\.token: [^"]+$/,
  )
})

test('doctor reports a gap until its listener proves again that it accepts pings', async (t) => {
  await using product = await openProduct()
  const { db } = product
  await db('coverage_gaps').insert({
    listener: 'http',
    shards: -1,
    from_at: db.raw(`now() - interval '1 hour'`),
    kind: 'full',
    cause: 'restart',
  })
  t.regex(await doctor(product), /WRONG\s+listeners: http has accepted no pings since 20\S+ \(restart\)/)
  t.like(await findNotableGap(db, 0), { listener: 'http', until: null })
  t.false(await areListenersProven(db))
  const prove = (kind: string, sinceSeconds: number) =>
    db('listener_heartbeats').insert({
      instance: randomUUID(),
      kind,
      span: 1,
      shards: -1,
      from_at: db.raw('now() - make_interval(secs => ?)', [sinceSeconds]),
      until_at: db.raw('now()'),
    })
  await prove('http', 2)
  t.regex(await doctor(product), /ok\s+listeners: take pings/)
  t.is(await findNotableGap(db, 0), null, 'no page shows a banner')
  await prove('smtp', 2)
  t.false(await areListenersProven(db), 'the end of the gap is not stored')
  await db('coverage_gaps').update({ until_at: db.raw('now()') })
  t.true(await areListenersProven(db))
  await db('listener_heartbeats').update({ until_at: db.raw(`now() - interval '1 minute'`) })
  await db('coverage_gaps').update({ until_at: null })
  t.regex(await doctor(product), /WRONG\s+listeners: http/, 'the listener is silent again')
})
