import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { formatEnvFile, readEnvFile, withLocalEnv } from '#shared/platform/process/local-env.ts'
import { databaseLogins } from '../../stack/database-admin.ts'
import { stackSettings } from '../../stack/stack-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'signalbox-env-'))
const file = join(folder, 'env')
test.after.always(() => rmSync(folder, { recursive: true }))
writeFileSync(file, 'PORT=9000\nSECRET_KEY=stored\n')

test('the file completes the environment', (t) => {
  t.is(withLocalEnv({ LOCAL_ENV_FILE: file }).PORT, '9000')
})

test('the environment wins over the file', (t) => {
  t.is(withLocalEnv({ LOCAL_ENV_FILE: file, PORT: '80' }).PORT, '80')
})

test('a setting given by file in the environment wins over the stored value', (t) => {
  const env = withLocalEnv({ LOCAL_ENV_FILE: file, SECRET_KEY_FILE: '/run/secrets/secret_key' })
  t.is(env.SECRET_KEY, undefined)
})

test('without the file the environment is what it was', (t) => {
  t.deepEqual(withLocalEnv({ LOCAL_ENV_FILE: `${file}.none` }), { LOCAL_ENV_FILE: `${file}.none` })
})

test('tests do not see the stack that runs beside them', (t) => {
  const env = { NODE_ENV: 'test' }
  t.is(withLocalEnv(env), env)
})

for (const value of ['plain', 'with space', "it's", 'a "b" c', 'two\nlines', '# no comment', '', 'a=b&c=$d'])
  test(`the file keeps ${JSON.stringify(value)} as it is`, (t) => {
    const copy = `${file}.${Buffer.from(value).toString('hex')}`
    writeFileSync(copy, formatEnvFile({ VALUE: value, NEXT: '1' }))
    t.deepEqual(readEnvFile(copy), { VALUE: value, NEXT: '1' })
  })

test('make up listens on this machine only, unless HOST is set', (t) => {
  t.is(stackSettings({}, {}, 'key').HOST, '127.0.0.1')
  t.is(stackSettings({ HOST: '0.0.0.0' }, { HOST: '127.0.0.1' }, 'key').HOST, '0.0.0.0')
})

test('the ports of the last start stay until the environment names others', (t) => {
  t.like(stackSettings({}, { PORT: '9000', SMTP_PORT: '9025' }, 'key'), { PORT: '9000', SMTP_PORT: '9025' })
  t.is(stackSettings({ PORT: '9001' }, { PORT: '9000' }, 'key').PORT, '9001')
  t.is(stackSettings({}, {}, 'key').PORT, '8080')
})

test('the processes have a separate login where we create it, and the given login elsewhere', (t) => {
  const none = { url: undefined, ownerUrl: undefined }
  const url = 'postgres://postgres@127.0.0.1:5432/signalbox'
  t.deepEqual(databaseLogins({ url, origin: 'localhost' }, none, 'abc'), {
    DATABASE_URL: 'postgres://signalbox_login:abc@127.0.0.1:5432/signalbox',
    DATABASE_OWNER_URL: url,
  })
  t.deepEqual(databaseLogins({ url, origin: 'environment' }, { url, ownerUrl: undefined }, 'abc'), {
    DATABASE_URL: url,
  })
  const app = 'postgres://app:pw@127.0.0.1:5432/signalbox'
  t.deepEqual(databaseLogins({ url, origin: 'environment' }, { url: app, ownerUrl: url }, 'abc'), {
    DATABASE_URL: app,
    DATABASE_OWNER_URL: url,
  })
})
