import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'ava'
import { verifyInvoiceToken } from '#shared/risk/packs/signals/e-invoice-token.ts'
import { keyHealth, readKeys, watchKeys } from '../../examples/registry-gateway/keys.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { recordedHttp, type Sample, samplesOf } from './registry-gateway-samples.ts'

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

test('a folder of certificates is amber 60 days before its last key ends', (t) => {
  const [sample] = samplesOf('einvoice-keys').filter((one) => one.case === 'good')
  const folder = join(placed(sample ?? raise()), 'certificates')
  t.deepEqual(keyHealth(folder, Date.parse('2028-03-01T00:00:00Z')), { daysLeft: 92, isAmber: false })
  t.true(keyHealth(folder, Date.parse('2028-04-10T00:00:00Z'))?.isAmber)
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

function raise(): never {
  throw new Error('the sample is missing')
}
