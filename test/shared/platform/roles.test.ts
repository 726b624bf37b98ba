import test from 'ava'
import { createLog } from '#shared/platform/process/log.ts'
import { openPlatform, openRole } from '#shared/platform/process/open-platform.ts'
import { openProduct } from '../../support/product.ts'

test('a problem of one role counts for its process and for no other role', async (t) => {
  await using product = await openProduct()
  await using resources = new AsyncDisposableStack()
  const log = createLog('silent', 'test')
  const platform = await openPlatform(resources, 'signalbox-test', product.config, log)
  const listeners = openRole(resources, platform)
  const own = { name: 'signalbox-test-workers', label: 'workers-', config: product.config, log }
  const workers = openRole(resources, platform, own)
  await platform.broker.connected()
  await platform.clock.isSet()
  workers.readiness.add(() => ['sweep: is late'])

  t.deepEqual(await workers.readiness.problems(), ['sweep: is late'])
  t.deepEqual(await platform.readiness.problems(), ['sweep: is late'])
  t.deepEqual(await listeners.readiness.problems(), [])
  t.is(listeners.db, platform.db)
  t.not(workers.db, platform.db)
  const { rows } = await workers.db.raw("SELECT current_setting('application_name') AS name")
  t.is(rows[0].name, 'signalbox-test-workers')
})

test('a process logs a warning for each deprecated setting when it starts', async (t) => {
  await using product = await openProduct()
  await using resources = new AsyncDisposableStack()
  const logged: unknown[] = []
  const log = Object.assign(createLog('silent', 'test'), { warn: (...entry: unknown[]) => void logged.push(entry) })
  const warning = 'OLD_NAME is deprecated: use NEW_NAME (since 1.2)'
  await openPlatform(resources, 'signalbox-test', { ...product.config, warnings: [warning] }, log)
  t.deepEqual(logged[0], [{ warning }, 'settings.deprecated'])
})
