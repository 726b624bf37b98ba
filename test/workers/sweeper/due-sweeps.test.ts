import test from 'ava'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { nowMicros, toSeconds } from '#shared/time.ts'
import { readDueSweeps } from '../../../workers/sweeper/due-sweeps-store.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'

const NONE = {
  overdueChecks: false,
  alerts: false,
  notifications: false,
  deliveries: false,
  mails: false,
  messages: false,
  identities: false,
  unknownPeriods: false,
  financing: false,
}

test('a new installation has no work for sweeps, and the first overdue check is found', async (t) => {
  await using product = await openProduct()
  const { now, work } = await readDueSweeps(product.db)
  t.deepEqual(work, NONE)
  t.true(Math.abs(toSeconds(now - nowMicros())) < 60)

  const project = await product.project()
  const deps = { db: product.db, secrets: createSecrets(product.config.secretKey) }
  const check = await addCheck(deps, project.id)
  await product
    .db('check_deadlines')
    .insert({ check_id: check.id, next_check_at: product.db.raw("now() - interval '1 second'") })
    .onConflict('check_id')
    .merge()
  t.deepEqual((await readDueSweeps(product.db)).work, { ...NONE, overdueChecks: true })
})
