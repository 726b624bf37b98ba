import test from 'ava'
import {
  claimWatchdog,
  recordWatchdogProblem,
  recordWatchdogResponse,
} from '#shared/monitoring/availability/watchdog-store.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { commands } from '../../../ingress/admin/registry.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
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
