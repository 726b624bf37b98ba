import { setTimeout as wait } from 'node:timers/promises'
import test from 'ava'
import { loadConfig } from '#shared/platform/process/config.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { startMailIngress } from '../../ingress/smtp/start-mail-ingress.ts'
import { startMail } from '../ingress/smtp/mail-product.ts'
import { eventually } from '../support/eventually.ts'
import { listeningPort, openProduct, type Product } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

/** A check is overdue four seconds after its last ping, and is pinged every two seconds. */
const PERIOD = { timeoutSeconds: 3, graceSeconds: 1 }
const EVERY_MS = 2_000
const DOMAIN = 'hc.example.org'

/** Longer than the default of five seconds, for a busy machine. */
const MAX_WAIT = { PUBLISH_TIMEOUT_MS: '8000' }

const down = async ({ db }: Product): Promise<number> => (await db('checks').where({ status: 'down' })).length

/** Returns the number of flips to down at a deadline that an earlier ping had already extended. */
async function falselyDown({ db }: Product): Promise<number> {
  const { rows } = await db.raw(
    `SELECT count(*)::int AS count FROM flips WHERE to_status = 'down' AND EXISTS (
       SELECT 1 FROM pings WHERE pings.check_id = flips.check_id AND pings.at <= flips.at
         AND pings.at > flips.at - interval '4 seconds')`,
  )
  return rows[0].count
}

async function mailTo(port: number, address: string): Promise<string> {
  await using session = await startMail(port, [address])
  return await session.command('Subject: done\r\n\r\ndone\r\n.')
}

/** Returns the heartbeats of listeners; the table also contains proofs, sweepers and notifiers. */
async function listeners(product: Product): Promise<Set<string>> {
  return new Set(
    await product
      .db('listener_heartbeats')
      .whereIn('kind', ['http', 'smtp'])
      .whereNotNull('settled_until')
      .pluck('instance'),
  )
}

test.serial('a ping in time prevents a false down, even with the slowest permitted confirm', async (t) => {
  await using product = await openProduct({ env: { PING_EMAIL_DOMAIN: DOMAIN, ...MAX_WAIT } })
  const { amqpUrl } = product.config
  await using proxy = await startTcpProxy({ port: Number(new URL(amqpUrl).port || 5672) })
  const project = await product.project()
  // The listeners use a slow proxy of the broker. The sweeper does not, so its barriers are fast.
  const behindProxy = { AMQP_URL: proxy.through(amqpUrl) }
  const { base, deps } = await product.ingress({}, behindProxy)
  await using resources = new AsyncDisposableStack()
  const mailConfig = loadConfig({ ...product.env, ...behindProxy })
  const mail = await startMailIngress(resources, mailConfig, createLog('silent', 'test'))
  await mail.deps.broker.connected()
  // A crashed listener must not stop the sweep.
  const dying = product.spawn('ingress')
  await listeningPort(dying)
  await eventually('heartbeats of three listeners', async () => (await listeners(product)).size === 3)
  dying.signal('SIGKILL')
  await dying.exited

  // One after the other, because many at once exceed the wait limit of the pool.
  const added: { uuid: string }[] = []
  while (added.length < 65) added.push(await addCheck(deps, project.id, PERIOD))
  const [checks, byMail] = [added.slice(5), added.slice(0, 5)]
  await product.workers(['ping-evaluator', 'sweeper'])

  const answers: Promise<number | string>[] = []
  const wave = () => {
    for (const { uuid } of checks) answers.push(fetch(`${base}/ping/${uuid}`).then(({ status }) => status))
    for (const { uuid } of byMail) {
      answers.push(mailTo(mail.server.port, `${uuid}@${DOMAIN}`).then((reply) => reply.slice(0, 3)))
    }
  }
  wave()
  await Promise.all(answers)
  const waves = setInterval(wave, EVERY_MS)
  for (const holdMs of [3_500, 4_600]) {
    proxy.hold(true)
    await wait(holdMs)
    proxy.hold(false)
    const held = answers.length
    await eventually('two more waves to go out', () => answers.length >= held + 2 * (checks.length + byMail.length))
  }
  clearInterval(waves)
  const seen = new Set(await Promise.all(answers))
  t.deepEqual(seen, new Set([200, '250']), 'every ping was accepted')
  t.is(await falselyDown(product), 0, 'no sweep brought its check down')

  // No more pings arrive. The sweep was delayed, not stopped.
  await eventually('all checks to be down', async () => (await down(product)) === checks.length + byMail.length)
})

test.serial('an idle system takes a check down within two seconds, also after a listener signed off', async (t) => {
  // A silent listener would delay it by half a minute.
  await using product = await openProduct({ env: { PUBLISH_TIMEOUT_MS: '30000' } })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const other = product.spawn('ingress')
  await listeningPort(other)
  await eventually('heartbeats of both listeners', async () => (await listeners(product)).size === 2)
  t.is(await other.stop(), 0)
  const ended = await product
    .db('listener_heartbeats')
    .whereNotNull('ended')
    .whereNotNull('settled_until')
    .distinct('instance', 'ended')
  t.deepEqual(
    ended.map((row) => row.ended),
    ['clean'],
  )

  // Recorded by a trigger, because the test may read later.
  await product.db.raw(`
    CREATE TABLE late (seconds float);
    CREATE FUNCTION note_late() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO late VALUES (extract(epoch FROM clock_timestamp() - NEW.at));
        RETURN NULL;
      END $$;
    CREATE TRIGGER note_late AFTER INSERT ON flips FOR EACH ROW WHEN (NEW.to_status = 'down') EXECUTE FUNCTION note_late();
  `)
  await product.workers(['ping-evaluator', 'sweeper'])
  const check = await addCheck(deps, project.id, PERIOD)
  t.is((await fetch(`${base}/ping/${check.uuid}`)).status, 200)
  const late = await eventually(
    'the check to be down',
    async () => (await product.db('late').first('seconds'))?.seconds,
  )
  t.true(late >= 1 && late < 12, `${late} s after its deadline`)
})
