import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { shell } from '#shared/monitoring/integrations/kinds/other.ts'
import { shellTransport } from '../../../../workers/notifier/transports/other.ts'
import { appriseTransport } from '../../../../workers/notifier/transports/push.ts'
import { openHttpSink } from '../../../support/http-sink.ts'
import { someNotification, someRecovery } from '../../../support/notification.ts'
import { openTransportContext } from '../transport-context.ts'

const enabled = { siteName: 'Signalbox', twilio: null, appriseUrl: null, mayRunCommands: true }

test('runs commands only if the operator enabled them', async (t) => {
  await using context = openTransportContext()
  const outcome = await shellTransport.send(context, { cmd_down: 'true' }, someNotification())
  t.like(outcome, { result: 'temporary', final: true, error: 'Shell commands are not enabled' })
})

test('passes values to commands only through the environment', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'shell-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await using context = openTransportContext({ settings: enabled })
  const name = `$(touch ${folder}/pwned) "; touch ${folder}/pwned; '`
  const check = { ...someNotification().check, name, tags: 'prod db' }
  const config = {
    cmd_down: `printf '%s|' "$STATUS" "$CODE" "$NOW" "$NAME" "$TAGS" "$SECRET_KEY$DATABASE_URL" > ${folder}/down`,
    cmd_up: `echo $STATUS > ${folder}/up`,
  }
  process.env.SECRET_KEY ??= 'a secret of the notifier'
  t.like(await shellTransport.send(context, config, someNotification({ check })), { result: 'delivered' })
  t.is(await readFile(join(folder, 'down'), 'utf8'), `down|${check.uuid}|2026-01-31T10:00:00+00:00|${name}|prod db||`)
  await t.throwsAsync(readFile(join(folder, 'pwned')), { code: 'ENOENT' })
  t.like(await shellTransport.send(context, config, someRecovery()), { result: 'delivered' })
  t.is(await readFile(join(folder, 'up'), 'utf8'), 'up\n')
})

test('reports and retries an exit code other than 0', async (t) => {
  await using context = openTransportContext({ settings: enabled })
  const outcome = await shellTransport.send(context, { cmd_down: 'exit 7' }, someNotification())
  t.like(outcome, { result: 'temporary', final: false, error: 'Command returned exit code 7' })
})

test('ignores a status without a command', (t) => {
  t.true(shell.isNoop({ cmd_down: 'true' }, 'up'))
  t.false(shell.isNoop({ cmd_down: 'true' }, 'down'))
})

test('sends title and body to the Apprise server, if there is one', async (t) => {
  await using sink = await openHttpSink()
  await using off = openTransportContext()
  const config = { value: 'tgram://token/chat' }
  t.like(await appriseTransport.send(off, config, someNotification()), {
    result: 'temporary',
    final: true,
    error: 'Apprise notifications are not enabled',
  })
  await using context = openTransportContext({ settings: { ...enabled, appriseUrl: `${sink.url}/` } })
  t.like(await appriseTransport.send(context, config, someNotification()), { result: 'delivered' })
  const [request] = sink.requests
  t.is(request?.path, '/notify/')
  const body = JSON.parse(String(request?.body))
  t.like(body, { urls: config.value, type: 'failure' })
  t.regex(body.title, /DOWN/)
  t.true(body.body.length > 0)
})

test('a stored Apprise URL that is refused now fails with the reason', async (t) => {
  await using context = openTransportContext({ settings: { ...enabled, appriseUrl: 'http://127.0.0.1:1/' } })
  const outcome = await appriseTransport.send(context, { value: 'json://token@h.example' }, someNotification())
  t.like(outcome, { result: 'permanent', failure: 'config' })
  const error = outcome.result === 'permanent' ? outcome.error : ''
  t.regex(error, /^The configuration is not valid: value must name a service: .*refused$/)
  t.false(error.includes('token'), error)
})
