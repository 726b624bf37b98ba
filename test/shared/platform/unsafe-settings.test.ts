import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { ConfigError, loadConfig } from '#shared/platform/process/config.ts'

const safe = {
  DATABASE_URL: 'postgres://signalbox:9f2c7b51@db/signalbox',
  AMQP_URL: 'amqp://signalbox:41d0aa7e@mq',
  SECRET_KEY: '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978',
}

/** The names of the settings that a start refuses. */
function refused(env: Record<string, string>): string[] {
  try {
    loadConfig(env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const values = Object.values(env).filter((value) => value.length > 6)
    if (values.some((value) => error.message.includes(value))) throw new Error('an error contains a value')
    return error.problems.map((problem) => problem.split(' ')[0] ?? '')
  }
}

test('safe settings start on every address', (t) => {
  for (const HOST of ['0.0.0.0', '::', '192.0.2.1', 'signalbox.example', '127.0.0.1'])
    t.deepEqual(refused({ ...safe, HOST }), [])
})

for (const [setting, value] of [
  ['AMQP_URL', 'amqp://guest:guest@mq'],
  ['AMQP_URL', 'amqp://mq'],
  ['AMQP_URL', 'amqp://signalbox:signalbox@mq'],
  ['DATABASE_URL', 'postgres://postgres:postgres@db/signalbox'],
  ['DATABASE_URL', 'postgres://app:Change-Me@db/signalbox'],
  ['DATABASE_URL', 'postgres://nina:nina@db/signalbox'],
  ['SMTP_URL', 'smtp://mailer:password@mail'],
  ['TWILIO_AUTH', 'secret'],
  ['SECRET_KEY', 'a'.repeat(40)],
  ['SECRET_KEY', 'abababababababababababababababababab'],
  ['SECRET_KEY', '0123456789 0123456789 0123456789'],
  ['SECRET_KEY_PREVIOUS', 'change-me-for-something-longer-of-your-own'],
] as const)
  test(`${setting} of ${value} is refused beyond the loopback, by its name`, (t) => {
    t.deepEqual(refused({ ...safe, [setting]: value }), [setting]) // HOST is 0.0.0.0 by default
    t.deepEqual(refused({ ...safe, [setting]: value, HOST: '::' }), [setting])
    for (const HOST of ['127.0.0.1', '::1', 'localhost']) t.deepEqual(refused({ ...safe, [setting]: value, HOST }), [])
  })

test('a login without a password is refused beyond the loopback', (t) => {
  const lacking: Record<string, readonly string[]> = {
    DATABASE_URL: [
      'postgres://postgres@db/signalbox',
      'postgres://postgres:@db/signalbox',
      'postgresql://db/signalbox',
    ],
    DATABASE_OWNER_URL: ['postgres://owner@db/signalbox', 'postgres://owner:@db/signalbox', 'postgres://db/signalbox'],
    AMQP_URL: ['amqp://signalbox@mq', 'amqps://signalbox:@mq'],
    SMTP_URL: ['smtp://mailer@mail', 'smtps://mailer:@mail'],
  }
  for (const [setting, values] of Object.entries(lacking)) {
    for (const value of values) {
      t.deepEqual(refused({ ...safe, [setting]: value }), [setting], value)
      t.deepEqual(refused({ ...safe, [setting]: value, HOST: '127.0.0.1' }), [], value)
    }
  }
  const relay = { ...safe, SMTP_URL: 'smtp://mail:25', DATABASE_URL: 'postgres:///signalbox?host=/run/postgresql' }
  t.deepEqual(refused(relay), [], 'a relay without login and a local socket need no password')
})

test('a random key of hexadecimal digits is strong enough, even if some digits are missing', (t) => {
  t.deepEqual(refused({ ...safe, SECRET_KEY: '1234567890ab'.repeat(5) }), [])
})

test('a secret file that other users can read or change is refused beyond the loopback', (t) => {
  // Not below the usual folder for temporary files: that of a test run may be closed to others.
  const folder = mkdtempSync('/var/tmp/signalbox-settings-')
  t.teardown(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  const file = join(folder, 'key')
  writeFileSync(file, safe.SECRET_KEY)
  const { SECRET_KEY: _, ...rest } = safe
  const env = { ...rest, SECRET_KEY_FILE: file }
  for (const [mode, expected] of [
    [0o600, []],
    [0o640, []],
    [0o644, ['SECRET_KEY_FILE']],
    [0o666, ['SECRET_KEY_FILE']],
    [0o602, ['SECRET_KEY_FILE']],
  ] as const) {
    chmodSync(file, mode)
    t.deepEqual(refused(env), [...expected], mode.toString(8))
    t.deepEqual(refused({ ...env, HOST: '127.0.0.1' }), [])
  }
  chmodSync(folder, 0o700)
  t.deepEqual(refused(env), [], 'no other machine can reach it')
  const inner = join(folder, 'inner')
  mkdirSync(inner)
  writeFileSync(join(inner, 'key'), safe.SECRET_KEY, { mode: 0o644 })
  t.deepEqual(refused({ ...env, SECRET_KEY_FILE: join(inner, 'key') }), [])
})

test('metrics for others take a second word', (t) => {
  t.deepEqual(refused({ ...safe, METRICS_HOST: '0.0.0.0' }), ['METRICS_HOST'])
  t.deepEqual(refused({ ...safe, METRICS_HOST: '0.0.0.0', METRICS_OPEN: 'true' }), [])
  t.deepEqual(refused({ ...safe, METRICS_HOST: '::1' }), [])
})
