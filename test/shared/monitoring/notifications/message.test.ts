import test from 'ava'
import { escapeHtml } from '#shared/html.ts'
import { htmlText, markdownText, plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { emailMessage } from '#shared/monitoring/notifications/email-message.ts'
import {
  factsOf,
  sentenceOf,
  smsText,
  speechText,
  summaryOf,
  titleOf,
} from '#shared/monitoring/notifications/message.ts'
import {
  codeBlock,
  escapeMarkdown,
  escapeSlack,
  formatDuration,
  formatInstant,
  formatPeriod,
} from '#shared/monitoring/notifications/text-parts.ts'
import { slackMessage } from '../../../../workers/notifier/transports/slack-format.ts'
import { alert, flipTime, someNotification, someRecovery } from '../../../support/notification.ts'

for (const [seconds, text] of [
  [0, '0 seconds'],
  [1, '1 second'],
  [45, '45 seconds'],
  [60, '1 minute, 0 seconds'],
  [300, '5 minutes, 0 seconds'],
  [3599.9, '59 minutes, 59 seconds'],
  [5400, '1 hour, 30 minutes'],
  [86_400, '1 day, 0 hours'],
  [2 * 86_400 + 3600 + 59, '2 days, 1 hour'],
] as const)
  test(`formats a duration of ${seconds} seconds as "${text}"`, (t) => {
    t.is(formatDuration(seconds * 1_000_000), text)
  })

for (const [seconds, text] of [
  [60, '1 minute'],
  [3600, '1 hour'],
  [5400, '1 hour 30 minutes'],
  [86_400, '1 day'],
  [604_800 + 61, '1 week 1 minute 1 second'],
] as const)
  test(`formats a period of ${seconds} seconds as "${text}"`, (t) => {
    t.is(formatPeriod(seconds), text)
  })

test('a text message is one line with site, name and reason', (t) => {
  t.is(
    smsText(someNotification({ reason: 'fail' }), 'Signalbox'),
    'Signalbox: The check "db-backup" is DOWN (a failure signal was received).',
  )
})

test('a text message contains no line breaks and no special spaces', (t) => {
  const check = { ...someNotification().check, name: 'a\u00a0b\r\nc' }
  t.is(smsText(someRecovery({ check }), 'Signalbox'), 'Signalbox: The check "a b c" is UP, after 1 hour, 30 minutes.')
})

test('a message of a policy shows step, severity, acknowledge link and delay', (t) => {
  const withAlert = (more: object, rest: object = {}) => someNotification({ alert: { ...alert, ...more }, ...rest })
  t.is(titleOf(withAlert({ what: 'repeat', repeat: 2 })), '"db-backup" is STILL DOWN (3)')
  t.is(titleOf(withAlert({ what: 'flapping' })), '"db-backup" is FLAPPING')
  t.is(emailMessage(withAlert({ what: 'repeat', repeat: 2 }), 'Signalbox').subject, 'STILL DOWN (3) | db-backup')
  t.is(emailMessage(withAlert({ what: 'flapping' }), 'Signalbox').subject, 'FLAPPING | db-backup')
  const facts = (more: object) => new Map(factsOf(withAlert(more)).map(({ label, value }) => [label, value]))
  const known = facts({})
  t.is(known.get('Severity'), 'critical')
  t.is(known.get('Step'), '1')
  t.is(known.get('Down since'), '31 Jan 2026, 12:00:00 EET')
  t.false(known.has('Late'))
  t.false(facts({ lateBy: 60_000_000 }).has('Late'), 'only beyond a minute')
  t.is(
    facts({ lateBy: 540_000_000, lateReason: 'WINDOW_ENDED' }).get('Late'),
    'This message is 9 minutes late: the check was in maintenance',
  )
})

test('only the mail of a down alert has a button to acknowledge', (t) => {
  const button = `href="${alert.ackUrl}" style=`
  t.true(emailMessage(someNotification({ alert }), 'S').html.includes(button))
  t.true(emailMessage(someNotification({ alert }), 'S').text.includes(`Acknowledge:\n${alert.ackUrl}`))
  t.false(emailMessage(someRecovery({ alert: { ...alert, what: 'recovery' } }), 'S').text.includes(alert.ackUrl))
})

test('only text forms of a down alert have the unescaped link', (t) => {
  const down = someNotification({ alert })
  const forms = [
    plainText,
    markdownText,
    (one: typeof down) => htmlText(one, '\n'),
    (one: typeof down) => smsText(one, 'S'),
  ]
  for (const form of forms) {
    t.true(form(down).includes(alert.ackUrl), form(down))
    t.false(form(someRecovery({ alert: { ...alert, what: 'recovery' } })).includes(alert.ackUrl))
  }
  t.false(speechText(down, 'S').includes(alert.ackUrl), 'a call does not contain the URL')
  const slack = (format: 'slack' | 'markdown') => slackMessage(down, 'S', format).attachments[0]
  t.deepEqual(slack('slack')?.actions, [{ type: 'button', text: 'Acknowledge', url: alert.ackUrl }])
  t.true(slack('markdown')?.text.endsWith(`[Acknowledge](${alert.ackUrl})`))
})

test('a delayed message names the window or the recovered parent', (t) => {
  const textWith = (more: object) =>
    smsText(someNotification({ reason: 'fail', dependents: 2, alert: { ...alert, ...more } }), 'S')
  const window = { lateReason: 'WINDOW_ENDED', suppressedBy: 'Patch\nnight' }
  t.is(
    textWith({ ...window, lateBy: 7_200_000_000 }),
    `S: The check "db-backup" is DOWN (a failure signal was received). It went down at 12:00. Delayed until now by maintenance "Patch night". 2 checks depend on it. Acknowledge: ${alert.ackUrl}`,
    'in the zone of the reader',
  )
  const mail = emailMessage(someNotification({ alert: { ...alert, ...window } }), 'S').text
  t.regex(mail, /It went down at 12:00\. Delayed until now by maintenance "Patch night"\./)
  t.regex(textWith({ ...window, downAgo: 100_000_000_000 }), /It went down at 31 Jan, 12:00\. Delayed until now/)
  t.regex(textWith({ ...window, suppressedBy: '' }), /Delayed until now by maintenance\./, 'a window without a name')
  t.regex(
    textWith({ lateReason: 'PARENT_UP', suppressedBy: 'router' }),
    /\. Still down after "router" came back\. 2 checks/,
  )
  t.notRegex(textWith({ lateReason: 'PARENT_UP', suppressedBy: '' }), /came back/, 'a deleted parent has no name')
})

test('a check without a name is shown with its uuid', (t) => {
  const check = { ...someNotification().check, name: '' }
  t.is(summaryOf(someRecovery({ check, downFor: null })), '"803f680d-e89b-492b-82ef-2be7b774a92d" is UP')
})

test('facts contain the schedule of a cron check and omit empty values', (t) => {
  const check = {
    ...someNotification().check,
    kind: 'cron' as const,
    schedule: '5 4 * * *',
    tz: 'Asia/Kolkata',
    tags: '',
  }
  t.deepEqual(
    factsOf(someNotification({ check, lastPing: null })).map(({ label, value }) => `${label}: ${value}`),
    ['Project: Ledger', 'Schedule: 5 4 * * *', 'Time zone: Asia/Kolkata', 'Total pings: 7', 'Last ping: never'],
  )
})

test('formats an instant in the time zone of the reader', (t) => {
  t.true(formatInstant(flipTime, 'Asia/Kolkata').startsWith('31 Jan 2026, 15:30:00'))
})

test('escapes markup of HTML, Slack and Markdown', (t) => {
  t.is(escapeHtml(`<a href="x">'&'</a>`), '&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;')
  t.is(escapeSlack('<!channel> & "x"'), '&lt;!channel&gt; &amp; "x"')
  t.is(escapeMarkdown('[x](y) @all *b* `c`'), '\\[x\\]\\(y\\) \\@all \\*b\\* \\`c\\`')
})

test('content cannot end a code block', (t) => {
  t.is(codeBlock('a\n```\nb'), '````\na\n```\nb\n````')
})

test('escapes names and bodies in Markdown and HTML messages', (t) => {
  const { lastPing, check } = someNotification()
  if (!lastPing) return t.fail()
  const hostile = someNotification({
    check: { ...check, name: '<img src=x> [a](b)' },
    lastPing: { ...lastPing, body: Buffer.from('</pre><script>') },
  })
  t.false(htmlText(hostile, '\n').includes('<img'))
  t.false(htmlText(hostile, '\n').includes('<script'))
  t.false(markdownText(hostile).includes('[a](b)'))
})

test('only a down notification contains the state of sources', (t) => {
  const sources = '1 of 3 sources reports, 2 are needed. Silent: web2 (since 04:31), web3 (never).'
  t.true(plainText(someNotification({ sources })).includes(`). ${sources}`))
  t.false(plainText(someRecovery({ sources })).includes('sources'))
})

test('only down notifications contain the number of dependents, in every format', (t) => {
  const forms = (dependents: number, make = someNotification) => {
    const notified = make({ dependents })
    const { text, html } = emailMessage(notified, 'Signalbox')
    const [card] = slackMessage(notified, 'Signalbox', 'slack').attachments
    return {
      sms: smsText(notified, 'Signalbox'),
      call: speechText(notified, 'Signalbox'),
      sentence: sentenceOf(notified),
      plain: plainText(notified),
      markdown: markdownText(notified),
      chat: htmlText(notified, ' '),
      mail: text,
      html,
      slack: `${card?.text} ${card?.fallback}`,
    }
  }
  for (const [form, text] of Object.entries(forms(14))) t.regex(text, /\. 14 checks depend on it\.?[^,]/, form)
  for (const [form, text] of Object.entries(forms(1))) t.regex(text, /1 check depends on it/, form)
  t.is(
    forms(14).sms,
    'Signalbox: The check "db-backup" is DOWN (no success signal came in time and the grace time is over). 14 checks depend on it.',
  )
  for (const text of Object.values(forms(14, someRecovery))) t.notRegex(text, /depend/)
  const plain = someNotification()
  t.is(sentenceOf(someNotification({ dependents: 0 })), sentenceOf(plain))
  for (const text of Object.values(forms(0))) t.notRegex(text, /depend/)
})

test('a test message is recognisable in every format', (t) => {
  const { check } = someNotification({})
  const tried = someNotification({ isTest: true, check: { ...check, name: 'Test from Signalbox' } })
  t.is(smsText(tried, 'Here'), 'Here: Test from Signalbox: this is a test message (no check is down).')
  const mail = emailMessage(tried, 'Signalbox')
  t.is(mail.subject, 'Test from Signalbox: this is a test message')
  t.regex(mail.text, /No check is down, and no action is needed/)
  t.notRegex(mail.text, /Period|Total pings|Last ping:/)
  for (const text of [markdownText(tried), htmlText(tried, '\n'), mail.text, mail.html])
    t.notRegex(text, /The check went down|is DOWN/)
})

test('a test message of a recovery is recognisable in every format', (t) => {
  const { check } = someRecovery({})
  const tried = someRecovery({ isTest: true, check: { ...check, name: 'Test from Signalbox' } })
  t.is(smsText(tried, 'Here'), 'Here: Test from Signalbox: this is a test message (no check is up again).')
  const mail = emailMessage(tried, 'Signalbox')
  t.is(mail.subject, 'Test from Signalbox: this is a test message')
  t.regex(mail.text, /No check is up again, and no action is needed/)
  for (const text of [markdownText(tried), htmlText(tried, '\n'), mail.text, mail.html]) {
    t.notRegex(text, /The check|is UP|, after /)
    t.true(text.includes('this is a test message'))
  }
})
