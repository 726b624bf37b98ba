import test from 'ava'
import { addMail, addWebhook, notify } from '../support/alerts.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { openSmtpSink } from '../support/smtp-sink.ts'

const HANGING = 50
/** Maximum time of an alert that is not delayed. */
const PROMPT_MS = 10_000

test.serial('fifty hanging webhooks delay neither a mail nor a webhook to another target', async (t) => {
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
  await notify(product.db, [check], [...webhooks, ...others])
  await product.workers(['ping-evaluator', 'notifier', 'sweeper'])

  t.is((await fetch(`${base}/ping/${check.uuid}/fail`)).status, 200)
  await mail.waitFor(1, PROMPT_MS)
  await prompt.waitFor(1, PROMPT_MS)
  // The hanging requests are still open.
  const ids = webhooks.map(({ id }) => id)
  const ended = await product
    .db('notifications')
    .whereIn('integration_id', ids)
    .whereNot({ state: 'pending' })
    .select('id')
  t.deepEqual(ended, [])
  t.true(hanging.requests.length > 0)

  // The recovery is notified promptly while the first messages still hang.
  t.is((await fetch(`${base}/ping/${check.uuid}`)).status, 200)
  await mail.waitFor(2, PROMPT_MS)
  await prompt.waitFor(2, PROMPT_MS)
  t.deepEqual(
    prompt.requests.map(({ path }) => path),
    ['/down', '/up'],
  )
})
