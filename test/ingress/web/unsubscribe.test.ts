import test from 'ava'
import { respell } from '../../support/base64url.ts'
import { openProduct } from '../../support/product.ts'
import { createTeam, join } from './people.ts'
import { createVisitor } from './visitor.ts'

test('the link in a mail ends the mails by a button or one click', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Acme')
  const owner = await join(app, team, 'owner')
  const made = await owner.post(`/projects/${team.project.uuid}/integrations/new/email`, {
    name: 'On-call',
    'option-value': 'someone@example.com',
    'option-down': 'on',
  })
  const uuid = /\/integrations\/([0-9a-f-]{36})/.exec(made.headers.location ?? '')?.[1] ?? ''
  const signature = app.deps.secrets.digest(`unsubscribe:${uuid}`).toString('base64url')
  const path = `/integrations/${uuid}/unsubscribe/${signature}`
  const isDisabled = async () =>
    (await app.deps.db('integrations').where({ uuid }).first('disabled_at'))?.disabled_at !== null
  const visitor = createVisitor(app.url)

  t.is((await visitor.get(`/integrations/${uuid}/unsubscribe/${signature.slice(1)}x`)).status, 404)
  t.is((await visitor.get(`/integrations/${uuid}/unsubscribe/${respell(signature)}`)).status, 404, 'another spelling')
  const requested = await visitor.get(path)
  t.is(requested.status, 200)
  t.regex(requested.text, /Signalbox<\/span>.*someone@example\.com/s, 'the page names the sender and the address')
  t.false(await isDisabled(), 'opening the link changes nothing')
  const oneClick = await visitor.send(path, { 'List-Unsubscribe': 'One-Click' })
  t.is(oneClick.status, 200)
  t.true(await isDisabled())
  const noted = await app.deps.db('audit_log').where({ action: 'integration.unsubscribed' }).select('*')
  t.is(noted.length, 1)
  t.like(noted[0], {
    organisation_id: team.organisationId,
    user_id: null,
    actor: 'recipient of a mail',
    target: 'On-call',
  })
  t.true((await owner.get(`/integrations/${uuid}`)).text.includes('Switched off'))
  t.is((await owner.post(`/integrations/${uuid}/enable`, {}, '/account')).status, 303)
  t.false(await isDisabled())
})
