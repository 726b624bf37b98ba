import test from 'ava'
import { connectOnce } from '#shared/platform/broker/addresses.ts'
import { openDatabase } from '#shared/platform/database/db.ts'
import { query } from '#shared/platform/database/sql.ts'
import { eventually } from '../support/eventually.ts'
import { certificateFor, startPostgres } from '../support/own-servers.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { placedHere, scaleBlock, settingOf } from '../support/scale-page.ts'
import { dropSharedRabbit, sharedRabbit } from './shared-rabbit.ts'

test.after.always(dropSharedRabbit)

test.serial('both servers are reached by TLS, and an untrusted certificate is refused', async (t) => {
  await using ofPostgres = await certificateFor('postgres')
  await using resources = new AsyncDisposableStack()
  const rabbit = await sharedRabbit()
  const { name: vhost } = resources.use(await rabbit.vhost())
  const { port, cert: rabbitCert } = rabbit.tls
  const options = { ssl: 'on', ssl_cert_file: ofPostgres.cert, ssl_key_file: ofPostgres.key }
  const postgres = resources.use(await startPostgres(options))
  const secure = (ca: string) => `${postgres.signalbox}?sslmode=verify-full&sslrootcert=${ca}`
  const broker = (parameters: string) => `amqps://guest:guest@127.0.0.1:${port}/${vhost}${parameters}`

  // Values of docs/scale.md, with one server each instead of two.
  const page = scaleBlock('amqps:')
  const { username, port: databasePort } = new URL(postgres.url)
  const env = {
    DATABASE_URL: placedHere(settingOf(page, 'DATABASE_URL'), {
      'signalbox:secret@': `${username}@`,
      'one:5432,two:5432': `127.0.0.1:${databasePort},127.0.0.1:${databasePort}`,
      '/etc/signalbox/ca.pem': ofPostgres.cert,
    }),
    AMQP_URL: placedHere(settingOf(page, 'AMQP_URL'), {
      'signalbox:secret@one:5671/signalbox': `guest:guest@127.0.0.1:${port}/${vhost}`,
      'signalbox:secret@two:5671/signalbox': `guest:guest@127.0.0.1:${port}/${vhost}`,
      '/etc/signalbox/ca.pem': rabbitCert,
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
  const connections = await rabbit.evaluate('rabbit_networking:connection_info_all([ssl])')
  t.regex(connections, /\{ssl, *true\}/)
  t.notRegex(connections, /false/)

  for (const parameters of ['', `?cacertfile=${ofPostgres.cert}`]) {
    const refused = await t.throwsAsync(connectOnce(broker(parameters), 'test'))
    t.regex(`${refused.message} ${'code' in refused ? refused.code : ''}`, /self.signed/i, parameters)
  }
  await t.throwsAsync(connectOnce(broker('?cacertfile=/nowhere'), 'test'), {
    message: 'AMQP_URL: cacertfile cannot be read (ENOENT)',
  })
  const other = openDatabase({ url: secure(rabbitCert), name: 'other', poolSize: 1, timeoutMs: 20_000 })
  resources.defer(() => other.destroy())
  t.regex((await t.throwsAsync(query(other, 'SELECT 1'))).message, /self.signed/i)
})
