import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'ava'
import { verifyInvoiceToken } from '#shared/risk/packs/signals/e-invoice-token.ts'
import { composeGateway, healthOf } from '../../examples/registry-gateway/compose.ts'
import { keyHealth, readKeys, watchKeys } from '../../examples/registry-gateway/keys.ts'
import { loadSettings } from '../../examples/registry-gateway/settings.ts'
import { memoryStore } from '../../examples/registry-gateway/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { recordedHttp, type Sample, sampleEnv, samplesOf } from './registry-gateway-samples.ts'

function placed(sample: Sample): string {
  const folder = temporaryFolder('gateway-keys')
  for (const [file, text] of Object.entries(sample.files ?? {})) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  return folder
}

test('certificates of a portal give key ids, validity, commands and messages', async (t) => {
  for (const sample of samplesOf('einvoice-keys')) {
    const base = placed(sample)
    const folder = join(base, 'certificates')
    const nowMs = Date.parse(sample.now)
    const outcome = sample.operation.endsWith('watch')
      ? await watchKeys({ folder, urls: ['https://portal.example/irp.cer'] }, recordedHttp(sample.exchanges, []), nowMs)
      : readKeys({ folder, issuer: 'NIC', env: 'PRODUCTION', token: join(base, 'token.jwt') }, nowMs)
    const { exit, keys, commands, message } = sample.expect
    t.is(outcome.exit, Number(exit), sample.case)
    t.deepEqual(outcome.keys, keys ?? [], sample.case)
    t.is(outcome.message, message, sample.case)
    if (commands)
      t.deepEqual(
        outcome.commands.map((line) => line.replaceAll(`${base}/`, '')),
        commands,
        sample.case,
      )
  }
})

test('an issuer is amber 60 days before its last certificate ends', (t) => {
  const folder = placed(good())
  const health = (day: string) => keyHealth(folder, Date.parse(`${day}T00:00:00Z`))
  t.deepEqual(health('2028-03-01'), { certificates: { daysLeft: 92, isAmber: false } })
  t.deepEqual(health('2028-04-10'), { certificates: { daysLeft: 52, isAmber: true } })
  t.deepEqual(Object.keys(keyHealth(join(folder, 'certificates'), 0)), ['certificates'], 'the folder names the issuer')
})

test('the health of the gateway shows the days left of certificates', async (t) => {
  const sample = good()
  const settings = loadSettings({ ...sampleEnv, INVOICE_KEYS: placed(sample) })
  const deps = {
    http: () => Promise.reject(new Error('no call')),
    now: () => 0,
    sleep: async () => {},
    report: () => {},
  }
  const composition = composeGateway(settings, deps, { store: memoryStore() })
  t.like(healthOf(composition, Date.parse('2028-04-10T00:00:00Z')), { keys: { certificates: { isAmber: true } } })
  t.throws(() => loadSettings({ ...sampleEnv, INVOICE_KEYS: '/no/such/folder' }), {
    message: /INVOICE_KEYS must be a folder/,
  })
})

test('a command quotes the path of a certificate that needs it', (t) => {
  const folder = join(placed(good()), "with blank's")
  mkdirSync(folder)
  writeFileSync(join(folder, 'irp.cer'), good().files?.['certificates/irp.cer'] ?? '')
  const [command = ''] = readKeys({ folder, issuer: 'NIC', env: 'PRODUCTION' }, 0).commands
  t.true(command.includes(String.raw`/with blank'\''s/irp.cer' --env`), command)
})

test('the product knows no key of a token that another certificate signed', (t) => {
  const [sample] = samplesOf('einvoice-keys').filter((one) => one.case === 'not-found')
  const token = sample?.files?.['token.jwt'] ?? ''
  const check = verifyInvoiceToken(token, {
    env: 'PRODUCTION',
    keys: [],
    buyerGstin: '27AAACB1234C1ZF',
    borrowerGstin: '29AAACR5678D1Z5',
    subcontractorGstin: '24AAFFS4321K1ZA',
  })
  t.is(check.reason, 'KEY_UNKNOWN')
})

function good(): Sample {
  const sample = samplesOf('einvoice-keys').find((one) => one.case === 'good')
  if (!sample) throw new Error('the sample is missing')
  return sample
}
