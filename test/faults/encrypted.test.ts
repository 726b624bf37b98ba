import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { connectOnce } from '#shared/platform/broker/addresses.ts'
import { openDatabase } from '#shared/platform/database/db.ts'
import { migrateLatest } from '#shared/platform/database/migrate.ts'
import { query } from '#shared/platform/database/sql.ts'
import { databaseUrl, withClient } from '../../stack/database-admin.ts'
import { serviceUser } from '../../stack/service-user.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { startPostgres, startRabbit } from '../support/own-servers.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { placedHere, scaleBlock, settingOf } from '../support/scale-page.ts'

/** A certificate for the loopback that signs itself, readable by the server of the name alone. */
async function certificateFor(server: 'postgres' | 'rabbitmq') {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  chmodSync(folder, 0o755)
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']
  const out = ['-keyout', key, '-out', cert, '-days', '2']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...out], { stdio: 'pipe' })
  const user = await serviceUser(server)
  if (user) for (const file of [cert, key]) chownSync(file, user.uid, user.gid)
  chmodSync(key, 0o600)
  return { cert, key, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

test.serial('both servers are spoken to by TLS, and neither with a certificate of somebody else', async (t) => {
  using ofPostgres = await certificateFor('postgres')
  using ofRabbit = await certificateFor('rabbitmq')
  await using resources = new AsyncDisposableStack()
  const options = { ssl: 'on', ssl_cert_file: ofPostgres.cert, ssl_key_file: ofPostgres.key }
  const port = await freePort()
  const [postgres, rabbit] = await Promise.all([
    startPostgres(options),
    startRabbit([
      `listeners.ssl.1 = 127.0.0.1:${port}`,
      `ssl_options.cacertfile = ${ofRabbit.cert}`,
      `ssl_options.certfile = ${ofRabbit.cert}`,
      `ssl_options.keyfile = ${ofRabbit.key}`,
    ]),
  ])
  resources.use(postgres)
  resources.use(rabbit)
  await withClient(postgres.url, (client) => client.query('CREATE DATABASE signalbox'))
  const database = databaseUrl(postgres.url, 'signalbox')
  await migrateLatest(database)
  const secure = (ca: string) => `${database}?sslmode=verify-full&sslrootcert=${ca}`
  const broker = (parameters: string) => `amqps://guest:guest@127.0.0.1:${port}${parameters}`

  // As docs/scale.md has them, of one server each instead of two.
  const page = scaleBlock('amqps:')
  const { username, port: databasePort } = new URL(postgres.url)
  const env = {
    DATABASE_URL: placedHere(settingOf(page, 'DATABASE_URL'), {
      'signalbox:secret@': `${username}@`,
      'one:5432,two:5432': `127.0.0.1:${databasePort},127.0.0.1:${databasePort}`,
      '/etc/signalbox/ca.pem': ofPostgres.cert,
    }),
    AMQP_URL: placedHere(settingOf(page, 'AMQP_URL'), {
      'signalbox:secret@one:5671/signalbox': `guest:guest@127.0.0.1:${port}`,
      'signalbox:secret@two:5671/signalbox': `guest:guest@127.0.0.1:${port}`,
      '/etc/signalbox/ca.pem': ofRabbit.cert,
    }),
  }
  const product = resources.use(await openProduct({ env }))
  const project = await product.project()
  const { base, deps } = await product.ingress()
  await product.workers(['ping-evaluator'])
  const check = await addCheck(deps, project.id)
  t.is((await fetch(`${base}/ping/${check.uuid}`)).status, 200)
  await eventually('the ping to be applied', async () => (await product.db('pings')).length === 1)
  const plain = await query(
    product.db,
    `SELECT FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid) WHERE a.application_name LIKE 'signalbox%' AND NOT s.ssl`,
  )
  t.is(plain.length, 0, 'every connection is encrypted')
  t.is((await rabbit.ctl('list_connections', 'ssl')).match(/false/g), null)

  for (const parameters of ['', `?cacertfile=${ofPostgres.cert}`]) {
    const refused = await t.throwsAsync(connectOnce(broker(parameters), 'test'))
    t.regex(`${refused.message} ${'code' in refused ? refused.code : ''}`, /self.signed/i, parameters)
  }
  await t.throwsAsync(connectOnce(broker('?cacertfile=/nowhere'), 'test'), {
    message: 'AMQP_URL: cacertfile cannot be read (ENOENT)',
  })
  const other = openDatabase({ url: secure(ofRabbit.cert), name: 'other', poolSize: 1, timeoutMs: 20_000 })
  resources.defer(() => other.destroy())
  t.regex((await t.throwsAsync(query(other, 'SELECT 1'))).message, /self.signed/i)
})
