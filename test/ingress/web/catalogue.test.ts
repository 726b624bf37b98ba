import test from 'ava'
import { catalogue, integrationKinds } from '#shared/monitoring/integrations/kinds.ts'
import { unavailableReason } from '../../../ingress/web/monitoring/integrations/catalogue.ts'

test('every kind of integration is in the catalogue once', (t) => {
  const listed = catalogue.flatMap(({ kinds }) => kinds.map(({ kind }) => kind))
  t.deepEqual(listed.toSorted(), [...integrationKinds.keys()].toSorted())
})

test('an unavailable kind of integration names its missing setting', (t) => {
  const none = { smtpUrl: undefined, twilioAccount: undefined, appriseUrl: undefined }
  for (const [kind, setting] of [
    ['email', 'SMTP_URL'],
    ['sms', 'TWILIO_ACCOUNT'],
    ['call', 'TWILIO_ACCOUNT'],
    ['whatsapp', 'TWILIO_ACCOUNT'],
    ['apprise', 'APPRISE_URL'],
  ] as const)
    t.regex(unavailableReason(kind, none) ?? '', new RegExp(setting), kind)
  t.is(unavailableReason('slack', none), null)
  const all = { smtpUrl: 'smtp://a', twilioAccount: 'A', appriseUrl: 'http://a' }
  for (const kind of integrationKinds.keys()) t.is(unavailableReason(kind, all), null, kind)
})
