import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { loadSettings, SettingsError, testSettings } from '../../examples/registry-gateway/settings.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { sampleEnv } from './registry-gateway-samples.ts'

test('settings name each problem, and never quote a value', (t) => {
  const error = t.throws(
    () =>
      loadSettings({ ...sampleEnv, GATEWAY_TOKEN: 'short-secret', GLEIF_URL: 'http://gleif.example', SETU_SECRET: '' }),
    { instanceOf: SettingsError },
  )
  t.regex(error?.message ?? '', /GATEWAY_TOKEN must have 32 characters or more/)
  t.regex(error?.message ?? '', /GLEIF_URL must be an https address; http is for loopback only/)
  t.regex(error?.message ?? '', /SETU_SECRET is not set; SETU_CLIENT_ID, SETU_SECRET/)
  t.notRegex(error?.message ?? '', /short-secret/)
  t.regex(t.throws(() => loadSettings({}))?.message ?? '', /GATEWAY_KEY is not set/)
})

test('a setting may come from a file, but not from both', (t) => {
  const file = join(temporaryFolder('gateway-settings'), 'token')
  writeFileSync(file, `${'a'.repeat(40)}\n`)
  const { GATEWAY_TOKEN, ...rest } = sampleEnv
  t.is(loadSettings({ ...rest, GATEWAY_TOKEN_FILE: file }).GATEWAY_TOKEN, 'a'.repeat(40))
  const both = t.throws(() => loadSettings({ ...rest, GATEWAY_TOKEN, GATEWAY_TOKEN_FILE: file }))
  t.regex(both?.message ?? '', /GATEWAY_TOKEN and GATEWAY_TOKEN_FILE are both set/)
})

test('hosts and keys of test environments are found', (t) => {
  t.deepEqual(testSettings(loadSettings(sampleEnv)), [])
  const env = { ...sampleEnv, SETU_URL: 'https://fiu-sandbox.setu.co/v2', SANDBOX_API_KEY: 'key_test_1' }
  t.deepEqual(testSettings(loadSettings(env)), ['SETU_URL', 'SANDBOX_API_KEY'])
  const withPort = { ...sampleEnv, SANDBOX_URL: 'https://test-api.sandbox.co.in:8443' }
  t.deepEqual(testSettings(loadSettings(withPort)), ['SANDBOX_URL'])
})
