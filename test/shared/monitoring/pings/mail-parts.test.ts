import test from 'ava'
import { splitParts } from '#shared/monitoring/pings/mail-message.ts'
import { readMailText } from '#shared/monitoring/pings/mail-text.ts'

test('a boundary is searched only within its part', (t) => {
  const raw = Buffer.from(`a\n${'x'.repeat(1_000)}\n--far\n${'y'.repeat(1_000_000)}`)
  const budget = { bytesLeft: 10_000 }
  t.deepEqual(splitParts(raw, { start: 2, end: 500 }, 'far', 100, budget), [])
  t.is(budget.bytesLeft, 10_000 - 499)
})

test('the search for boundaries has one limit for all parts', (t) => {
  const raw = Buffer.from(`\n--b\none\n--b\ntwo\n--b\nthree\n--b--\n`)
  const body = { start: 1, end: raw.length }
  const texts = (bytesLeft: number) =>
    splitParts(raw, body, 'b', 100, { bytesLeft }).map(({ start, end }) => raw.toString('utf8', start, end))
  t.deepEqual(texts(1_000), ['one', 'two', 'three'])
  t.deepEqual(texts(12), ['one', 'two\n--b\nthree\n--b--\n'])
  t.deepEqual(texts(0), [])
})

test('a mail of a thousand multiparts without boundaries is read', async (t) => {
  const part = `--outer\r\nContent-Type: multipart/mixed; boundary="missing"\r\n\r\n${'x'.repeat(8_000)}\r\n`
  const last = '--outer\r\nContent-Type: text/plain\r\n\r\nfound\r\n--outer--\r\n'
  const head = 'Subject: bomb\r\nContent-Type: multipart/mixed; boundary=outer\r\n\r\n'
  const { subject, pieces } = await readMailText(Buffer.from(`${head}${part.repeat(990)}${last}`))
  t.is(subject, 'bomb')
  t.deepEqual(pieces, ['found'])
})
