import test from 'ava'
import { addMail, addWebhook, tell } from '../support/alerts.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { openSmtpSink } from '../support/smtp-sink.ts'

const HANGING = 50

test('F22: fifty webhooks that hang hold up neither a mail nor a webhook to another target', async (t) => {
  await using hanging = await openHttpSink()
  hanging.respond = () => ({ misbehave: 'hang' })
  await using prompt = await openHttpSink()
  await using mail = await openSmtpSink()
  await using product = await openProduct({ env: { SMTP_URL: mail.url } })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  const webhooks = await Promise.all(
    Array.from({ length: HANGING }, (_, index) => addWebhook(deps, project.id, `${hanging.url}/${index}`)),
  )
  const others = [await addMail(deps, project.id, 'ops@example.org'), await addWebhook(deps, project.id, prompt.url)]
  await tell(product.db, [check], [...webhooks, ...others])
  await product.workers(['ping-evaluator', 'notifier', 'sweeper'])

  t.is((await fetch(`${base}/ping/${check.uuid}/fail`)).status, 200)
  await mail.waitFor(1)
  await prompt.waitFor(1)
  // No attempt at those that hang, which takes fifteen seconds, has ended by then: nothing waited for one.
  const tried = await product
    .db('notification_attempts as a')
    .join('notifications as n', 'n.id', 'a.notification_id')
    .whereIn(
      'n.channel_id',
      webhooks.map(({ id }) => id),
    )
    .select('a.notification_id')
  t.deepEqual(tried, [])
  await hanging.waitFor(1)

  // The recovery is notified of as promptly, while the first messages still hang.
  t.is((await fetch(`${base}/ping/${check.uuid}`)).status, 200)
  await mail.waitFor(2)
  await prompt.waitFor(2)
  t.deepEqual(
    prompt.requests.map(({ path }) => path),
    ['/down', '/up'],
  )
})
