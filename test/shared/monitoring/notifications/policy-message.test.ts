import { readFileSync } from 'node:fs'
import test from 'ava'
import { recipientText } from '#shared/monitoring/notifications/alert-texts.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { emailMessage } from '#shared/monitoring/notifications/email-message.ts'
import { factsOf } from '#shared/monitoring/notifications/message.ts'
import { alert, flipTime, someNotification } from '../../../support/notification.ts'

test('a message shows the position in the policy and why a person gets it', (t) => {
  const plan = { steps: 2, nextIn: 899_000_000, recipientText: 'You are on call (Primary), policy "Nights".' }
  const personal = someNotification({ alert: { ...alert, ...plan } })
  const mail = emailMessage(personal, 'S').text
  t.regex(mail, /grace time is over\. You are on call \(Primary\), policy "Nights"\.\n/)
  t.regex(mail, /Step: 1 of 2, next in 15 minutes\n/)
  t.notRegex(mail, /Changed:|Notified because/, '"Down since" is the same instant')
  t.regex(plainText(personal), /Notified because: You are on call \(Primary\), policy "Nights"\.\n/)
  const step = (more: object) =>
    factsOf(someNotification({ alert: { ...alert, ...plan, ...more } })).find(({ label }) => label === 'Step')?.value
  t.is(step({ nextIn: null }), '1 of 2')
  t.is(step({ nextIn: 20_400_000 }), '1 of 2, next in 20 seconds')
  t.is(step({ step: 3, nextIn: null }), 'fallback')
})

test('the reason for the recipient names the schedule or the policy', (t) => {
  const detail = { reason: 'FIRST' } as const
  t.is(recipientText({ ...detail, schedule: 'Primary' }, 'Nights'), 'You are on call (Primary), policy "Nights".')
  t.is(recipientText({ ...detail, schedule: 'Primary' }, null), 'You are on call (Primary).')
  t.is(recipientText(detail, 'Nights'), 'You are a recipient of policy "Nights".')
  t.is(recipientText({ reason: 'REASSIGNED' }, 'Nights'), 'The incident is assigned to you.')
  t.is(recipientText({ reason: 'SNOOZE_ENDED' }, 'Nights'), 'The snooze of the incident ended.')
  t.is(recipientText(detail, null), '')
})

test('the list of checks in a mail labels the last ping and uses the words of the pages', (t) => {
  const overview = [
    { label: 'Backup', status: 'down', lastPingAt: flipTime },
    { label: 'nightly', status: 'grace', lastPingAt: null },
  ]
  const mail = emailMessage(someNotification({ overview }), 'S').text
  t.true(mail.includes('Backup: down (last ping 31 Jan 2026, 12:00:00 EET)'), mail)
  t.true(mail.includes('nightly: late (never pinged)'), mail)
})

test('the number of pings is that at the last ping of the message', (t) => {
  const { lastPing, check } = someNotification()
  const delayed = someNotification({ check: { ...check, nPings: 30 }, lastPing: lastPing && { ...lastPing, n: 29 } })
  t.is(factsOf(delayed).find(({ label }) => label === 'Total pings')?.value, '29')
})

test('the documentation shows the mail as it is sent', (t) => {
  const at = flipTime - 86_400_000_000
  const { lastPing } = someNotification()
  const links = { check: '/checks/x', ack: '/a/x', unsubscribe: '/integrations/x' }
  const notification = someNotification({
    alert: { ...alert, downAt: at, steps: 2, nextIn: 900_000_000, ackUrl: links.ack },
    flipAt: at,
    lastPing: lastPing && { ...lastPing, at: lastPing.at - 86_400_000_000 },
    urls: { site: '', check: links.check, unsubscribe: links.unsubscribe },
  })
  const { subject, text } = emailMessage(notification, 'Signalbox')
  const shown = text.replaceAll(/(\/[a-z]+\/)x$/gm, 'https://signalbox.example.org$1...').trimEnd()
  t.true(readFileSync('docs/alerting.md', 'utf8').includes(`\nSubject: ${subject}\n\n${shown}\n`), shown)
})
