import { readFileSync } from 'node:fs'
import test from 'ava'
import { listedSubject, readMailText } from '#shared/monitoring/pings/mail-text.ts'

const file = new URL('../../../vectors/mail-subjects.json', import.meta.url)
const read = (...lines: string[]) => readMailText(Buffer.from(lines.join('\r\n')))

test('reads a mail of one plain part; a missing subject is empty', async (t) => {
  t.deepEqual(await read('From: a@example.org', '', 'OK'), { subject: '', pieces: ['OK'] })
  t.deepEqual(await read(''), { subject: '', pieces: [''] })
})

test('reads the first subject, unfolded and decoded', async (t) => {
  const { subject } = await read(
    'Subject: =?iso-8859-1?q?r=E9?=',
    ' =?utf-8?b?dXNzaQ==?= of',
    '\tthree',
    'Subject: another',
    '',
    '',
  )
  t.is(subject, 'réussi of\tthree')
})

test('an unknown charset is read as UTF-8, invalid bytes are replaced', async (t) => {
  t.is((await read('Subject: =?klingon?q?=C3=A9?=', '', '')).subject, 'é')
  t.deepEqual((await read('Content-Type: text/plain; charset="klingon"', '', 'é')).pieces, ['é'])
  const raw = Buffer.concat([Buffer.from('Content-Type: text/plain; charset=utf-8\r\n\r\n'), Buffer.from([0x4f, 0xff])])
  t.deepEqual((await readMailText(raw)).pieces, ['O\ufffd'])
  const latin = Buffer.from('Content-Type: text/plain; charset=ISO-8859-1\n\nr\xe9', 'latin1')
  t.deepEqual((await readMailText(latin)).pieces, ['ré'])
})

test('transfer encodings are decoded', async (t) => {
  const quoted = await read('Content-Transfer-Encoding: Quoted-Printable', '', 'SUC=', 'CESS=3D=zz=C3=A9')
  t.deepEqual(quoted.pieces, ['SUCCESS==zzé'])
  const base64 = await read('Content-Transfer-Encoding: base64 (comment)', '', 'U1VD', 'Q0VTUw==', '')
  t.deepEqual(base64.pieces, ['SUCCESS'])
})

test('reads the first plain and HTML parts, not attachments', async (t) => {
  const mail = await read(
    'Subject: parts',
    'Content-Type: multipart/mixed; boundary="out er"',
    '',
    'preamble',
    '--out er',
    'Content-Type: text/plain',
    'Content-Disposition: attachment; filename=a.txt',
    '',
    'attached',
    '--out er',
    'Content-Type: multipart/alternative; boundary=in',
    '',
    '--in',
    '',
    'plain',
    'text',
    '--in',
    'Content-Type: multipart/related; boundary=rel',
    '',
    '--rel',
    'Content-Type: text/html',
    '',
    '<p>O</p>K &amp; <b>S</b>UCCESS',
    '--rel--',
    '--in--',
    '--out er',
    '',
    'second plain',
    '--out er--',
    'epilogue',
  )
  t.deepEqual(mail, { subject: 'parts', pieces: ['plain\r\ntext', 'OK & SUCCESS'] })
})

test('an attached message is not a body', async (t) => {
  const mail = await read(
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: message/rfc822',
    '',
    'Subject: inner',
    '',
    'inner',
    '--b--',
  )
  t.deepEqual(mail, { subject: '', pieces: [] })
})

test('a boundary is a separate line, and may be missing', async (t) => {
  const head = ['Content-Type: multipart/mixed; boundary=b', '', '--b', '']
  t.deepEqual((await read(...head, 'a --b', '--bc', '--b x', 'end')).pieces, ['a --b\r\n--bc\r\n--b x\r\nend'])
  t.deepEqual((await read(...head, 'one', '--b \t', '', 'two', '--b--')).pieces, ['one'])
  t.deepEqual((await read('Content-Type: multipart/mixed; boundary=b', '', 'no parts')).pieces, [])
  t.deepEqual((await read('Content-Type: multipart/mixed', '', 'no boundary')).pieces, [])
})

test('hostile mails are read in linear time', async (t) => {
  const levels = Array.from({ length: 300 }, (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`)
  const hostile = {
    nesting: `${levels.join('')}\nOK`,
    parts: `Content-Type: multipart/mixed; boundary=b\n\n${'--b\nContent-Type: a/b\n\n'.repeat(100_000)}`,
    lookalikes: `Content-Type: multipart/mixed; boundary=b\n\n${'--bX\n'.repeat(500_000)}`,
    lines: `Subject: lines\n\n${'\n'.repeat(4_000_000)}`,
    headers: `Subject: many\n${'a: b\n'.repeat(500_000)}`,
    comments: `Content-Type: ${'('.repeat(100_000)}\n\nOK`,
  }
  for (const [what, raw] of Object.entries(hostile)) {
    const { pieces } = await readMailText(Buffer.from(raw))
    t.true(pieces.length <= 1, what)
  }
})

test('lists a subject in one line of 200 characters without control characters', async (t) => {
  const { subjects } = JSON.parse(readFileSync(file, 'utf8'))
  for (const [header, listed] of subjects) {
    const { subject } = await read(...header, '', 'text')
    t.is(listedSubject(subject), listed, header.join())
  }
  t.is(listedSubject('x'.repeat(5_000)), 'x'.repeat(200))
  t.is(listedSubject('😀'.repeat(5_000)), '😀'.repeat(200))
  t.is(listedSubject(`${' \u202e'.repeat(300)}a\ud800b`), 'a\ufffdb')
})
