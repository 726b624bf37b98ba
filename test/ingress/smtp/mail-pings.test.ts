import { randomBytes, randomUUID } from 'node:crypto'
import test from 'ava'
import { createTransport } from 'nodemailer'
import { eventually } from '../../support/eventually.ts'
import { MAIL_DOMAIN, openProduct } from '../../support/product.ts'
import { addCheck, addKey, addProject } from '../../support/projects.ts'
import { type MailProduct, openSmtpSession, startMail, withMailProject } from './mail-product.ts'

let mail: MailProduct

test.before(async () => {
  mail = await withMailProject(await openProduct({ listener: 'mail' }))
  await mail.workers(['ping-evaluator'])
})
test.after.always(async () => await mail[Symbol.asyncDispose]())

function transport() {
  return createTransport({ host: '127.0.0.1', port: mail.port, secure: false, ignoreTLS: true })
}

async function sendRaw(recipients: readonly string[], raw: string | Buffer): Promise<string> {
  await using session = await startMail(mail.port, recipients)
  session.write(raw)
  session.write('\r\n.\r\n')
  return await session.reply()
}

test('a mail is a success ping, recorded with its sender and stored whole', async (t) => {
  const check = await mail.addCheck()
  const sent = await transport().sendMail({
    from: 'Backup <backup@example.org>',
    to: check.address,
    subject: 'Done ✓',
    text: 'All files copied.\n.\n..end',
    attachments: [{ filename: 'report.txt', content: 'x'.repeat(2000) }],
  })
  t.is(sent.response, '250 OK')
  const [ping] = await mail.pings(check.id, 1)
  t.like(ping, {
    n: 1,
    type: 'success',
    scheme: 'email',
    method: '',
    ua: 'Email from backup@example.org',
    remoteAddr: '127.0.0.1',
    rid: null,
    subject: 'Done ✓',
  })
  t.regex(String(ping?.body), /^From: Backup <backup@example.org>\r\n[\s\S]*report.txt[\s\S]*\r\n$/)
  const [row] = await mail.db('checks').select('status').where({ id: check.id })
  t.is(row?.status, 'up')
})

test('the bytes are stored as sent, dots unstuffed and line ends kept', async (t) => {
  const check = await mail.addCheck()
  t.is(await sendRaw([check.address], 'Subject: x\r\n\r\n..one\r\nbare\nfeed \xe9\r\n...'), '250 OK')
  const [ping] = await mail.pings(check.id, 1)
  t.is(ping?.body?.toString(), 'Subject: x\r\n\r\n.one\r\nbare\nfeed \xe9\r\n..\r\n')
})

test('an address with ping key and slug names a check, and its domain is case-insensitive', async (t) => {
  const check = await mail.addCheck({ name: 'nightly', slug: 'nightly' })
  t.is(await sendRaw([`${mail.pingKey}+nightly@HC.Example.ORG`], 'Subject: a\r\n'), '250 OK')
  t.is((await mail.pings(check.id, 1))[0]?.type, 'success')
})

test('finds a check by key and slug in another case', async (t) => {
  const check = await mail.addCheck({ name: 'weekly', slug: 'weekly' })
  const own = await addKey(mail.deps, mail.projectId, 'ping', 'Abc-1')
  t.is(await sendRaw([`${mail.pingKey.toUpperCase()}+WEEKLY@${MAIL_DOMAIN}`], 'Subject: a\r\n'), '250 OK')
  t.is(await sendRaw([`${own.toLowerCase()}+Weekly@${MAIL_DOMAIN}`], 'Subject: b\r\n'), '250 OK')
  t.is((await mail.pings(check.id, 2)).length, 2)
  await eventually('the use of the key to be stored', async () => {
    const [key] = await mail.db('project_keys').where({ digest: mail.deps.secrets.digest(own) })
    return key?.last_used_at
  })
})

test('matches ping keys that differ only in case exactly', async (t) => {
  const [one, other] = [await addProject(mail.deps), await addProject(mail.deps)]
  await addKey(mail.deps, one.project.id, 'ping', 'Twin-7')
  await addKey(mail.deps, other.project.id, 'ping', 'TWIN-7')
  const [first, second] = await Promise.all(
    [one, other].map(({ project }) => addCheck(mail.deps, project.id, { name: 'job', slug: 'job' })),
  )
  for (const key of ['Twin-7', 'twin-7', 'tWIN-7', 'TWIN-7'])
    t.is(await sendRaw([`${key}+job@${MAIL_DOMAIN}`], `Subject: ${key}\r\n`), '250 OK')
  const subjects = async (check: { id: number } | undefined) =>
    (await mail.pings(check?.id ?? 0, 1)).map(({ body }) => String(body).trim())
  t.deepEqual(await subjects(second), ['Subject: TWIN-7'])
  t.deepEqual(await subjects(first), ['Subject: Twin-7'])
})

test('every recipient gets its ping, once', async (t) => {
  const checks = await Promise.all(Array.from({ length: 6 }, () => mail.addCheck()))
  const addresses = checks.flatMap(({ address, uuid }) => [address, `${uuid.toUpperCase()}@${MAIL_DOMAIN}`])
  t.is(await sendRaw([...addresses, `${randomUUID()}@${MAIL_DOMAIN}`], 'Subject: all\r\n'), '250 OK')
  for (const check of checks) t.is((await mail.pings(check.id, 1)).length, 1)
})

test('unknown and ambiguous recipients are accepted and ping nothing', async (t) => {
  await mail.addCheck({ name: 'twin', slug: 'twin' })
  await mail.addCheck({ name: 'twin', slug: 'twin' })
  const { pingKey } = mail
  t.is(await sendRaw([`${randomUUID()}@${MAIL_DOMAIN}`], 'Subject: a\r\n'), '250 OK')
  t.is(await sendRaw([`${pingKey}+unknown@${MAIL_DOMAIN}`], 'Subject: a\r\n'), '250 OK')
  t.is(await sendRaw([`${pingKey}+twin@${MAIL_DOMAIN}`], 'Subject: a\r\n'), '250 OK')
  const later = await mail.addCheck()
  await sendRaw([later.address], 'Subject: a\r\n')
  await mail.pings(later.id, 1)
  const [row] = await mail.db('checks').where({ name: 'twin' }).sum({ pings: 'n_pings' })
  t.is(Number(row?.pings), 0)
})

test('the null sender is shown as <>, the method restriction does not apply', async (t) => {
  const check = await mail.addCheck({ methods: 'POST' })
  await using session = await startMail(mail.port, [])
  await session.command('RSET')
  await session.command('MAIL FROM:<>')
  await session.command(`RCPT TO:<${check.address}>`)
  await session.command('DATA')
  t.is(await session.command('Subject: bounce\r\n\r\n.'), '250 OK')
  const [ping] = await mail.pings(check.id, 1)
  t.like(ping, { type: 'success', ua: 'Email from <>' })
})

test('accepts any sender and greeting, with or without angle brackets', async (t) => {
  const senders: [command: string, shown: string][] = [
    ['MAIL FROM:backup@nas.example', 'backup@nas.example'],
    ['MAIL FROM: backup@nas.example', 'backup@nas.example'],
    ['MAIL FROM: backup@nas.example SIZE=12 BODY=8BITMIME', 'backup@nas.example'],
    ['mail from:< backup@nas.example >', 'backup@nas.example'],
    ['MAIL FROM:<backup>', 'backup'],
    ['MAIL FROM:root', 'root'],
    ['MAIL FROM:<"ups room 2"@nas.example>', '"ups room 2"@nas.example'],
    ['MAIL FROM:<a@b@nas.example> SIZE=12', 'a@b@nas.example'],
    ['MAIL FROM:<@nas.example>', '@nas.example'],
    ['MAIL FROM:<job@[192.0.2.1]>', 'job@[192.0.2.1]'],
    ['MAIL FROM:<>', '<>'],
  ]
  const { uuid, id } = await mail.addCheck()
  for (const [index, [command, shown]] of senders.entries()) {
    await using session = await openSmtpSession(mail.port)
    const greeting = ['HELO my nas', 'EHLO [192.0.2.1]', `EHLO ${'n'.repeat(300)}`, 'HELO ups_1'][index % 4] ?? ''
    t.regex(await session.command(greeting), /^250/, greeting)
    t.is(await session.command(command), '250 OK', command)
    const recipient = [`<${uuid}@${MAIL_DOMAIN}>`, `${uuid}@${MAIL_DOMAIN}`, ` < ${uuid}@${MAIL_DOMAIN} > NOTIFY=NEVER`]
    t.is(await session.command(`RCPT TO:${recipient[index % 3]}`), '250 OK', command)
    for (const wrong of ['<unknown>', 'unknown', 'a b c', `<${uuid}@elsewhere.example>`, `x@${MAIL_DOMAIN}`, '"x y"@z'])
      t.regex(await session.command(`RCPT TO:${wrong}`), /^550/, wrong)
    await session.command('DATA')
    t.is(await session.command('Subject: a\r\n\r\n.'), '250 OK')
    const pings = await mail.pings(id, index + 1)
    t.is(pings.at(-1)?.ua, `Email from ${shown}`)
  }
})

test('answers 501 to commands that name no address or no greeting', async (t) => {
  await using session = await openSmtpSession(mail.port)
  for (const line of [
    'HELO',
    'EHLO',
    'MAIL FROM:',
    'MAIL FROM',
    'MAIL TO:a@b.example',
    'MAIL FROM:a@b.example SIZE=x SIZE=y',
  ])
    t.regex(await session.command(line), /^50[0-9]/, line)
  t.is(await session.command('MAIL FROM:a@b.example'), '250 OK')
  t.regex(await session.command('RCPT TO:'), /^501/)
})

const classified: [what: string, filters: object, message: string, type: string][] = [
  [
    'an encoded subject',
    { filterSubject: true, successKw: 'réussi' },
    'Subject: =?utf-8?q?r=C3=A9us?=\r\n =?utf-8?q?si?=\r\n\r\n',
    'success',
  ],
  ['no keyword', { filterSubject: true, successKw: 'DONE' }, 'Subject: nothing\r\n\r\nDONE', 'ign'],
  [
    'no keyword, failing by default',
    { filterSubject: true, successKw: 'X', filterDefaultFail: true },
    'Subject: a\r\n\r\n',
    'fail',
  ],
  [
    'a plain body',
    { filterBody: true, failureKw: 'ERROR', successKw: 'OK' },
    'Subject: OK\r\n\r\nOK, but ERROR',
    'fail',
  ],
  ['a start keyword', { filterBody: true, startKw: 'BEGIN' }, 'Subject: a\r\n\r\nBEGIN', 'start'],
  [
    'an HTML body',
    { filterBody: true, successKw: 'SUCCESS' },
    'Content-Type: text/html\r\n\r\n<p class=SUC>x</p><b>S</b>UCCESS',
    'success',
  ],
  [
    'an unknown charset',
    { filterBody: true, successKw: 'über' },
    'Content-Type: text/plain; charset=klingon\r\n\r\nüber',
    'success',
  ],
  ['the HTTP filter alone', { filterHttpBody: true, failureKw: 'ERROR' }, 'Subject: ERROR\r\n\r\nERROR', 'success'],
  ['nested too deep', { filterBody: true, successKw: 'OK' }, nested(200, 'OK'), 'ign'],
]

for (const [what, filters, message, type] of classified) {
  test(`keywords: ${what} is ${type}`, async (t) => {
    const check = await mail.addCheck(filters)
    t.is(await sendRaw([check.address], message), '250 OK')
    t.is((await mail.pings(check.id, 1))[0]?.type, type)
  })
}

test.serial(
  'a mail too large for a message is truncated, searched completely, and leaves no rows behind',
  async (t) => {
    const plain = await mail.addCheck()
    const filtered = await mail.addCheck({ filterBody: true, successKw: 'needle in the hay' })
    const missing = await mail.addCheck({ filterBody: true, successKw: 'nowhere to be found' })
    const body = `Subject: large\r\n\r\n${'hay hay hay hay\r\n'.repeat(200_000)}needle in the hay\r\n`
    t.is(await sendRaw([plain.address, filtered.address, missing.address], body), '250 OK')
    const types = await Promise.all(
      [plain, filtered, missing].map(async ({ id }) => {
        const [ping] = await mail.pings(id, 1)
        t.is(ping?.body?.toString(), body.slice(0, 100_000))
        t.is(ping?.subject, 'large')
        return ping?.type
      }),
    )
    t.deepEqual(types, ['success', 'success', 'ign'])
    t.is(await mail.waitingMails(), 0)
  },
)

test.serial('a large attachment leaves the text in the message', async (t) => {
  const check = await mail.addCheck({ filterSubject: true, filterBody: true, successKw: 'copied' })
  const content = randomBytes(20 * 1024 * 1024)
  await transport().sendMail({
    from: 'a@example.org',
    to: check.address,
    subject: 'x',
    text: 'copied',
    attachments: [{ filename: 'a.bin', content }],
  })
  const [ping] = await mail.pings(check.id, 1)
  t.is(ping?.type, 'success')
  t.is(ping?.body?.length, 100_000)
  t.is(await mail.waitingMails(), 0)
})

function nested(depth: number, text: string): string {
  const levels = Array.from(
    { length: depth },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
  )
  return `${levels.join('')}\r\n${text}`
}
