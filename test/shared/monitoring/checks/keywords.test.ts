import { readFileSync } from 'node:fs'
import test from 'ava'
import { htmlToLines, htmlToText } from '#shared/monitoring/checks/html-text.ts'
import { isJsonPointer } from '#shared/monitoring/checks/json-pointer.ts'
import { classifyEmail, classifyHttp, decodeBodyText, searchedText } from '#shared/monitoring/checks/keywords.ts'
import { aCheck } from './factory.ts'

const filters = { filterHttpBody: true, failureKw: 'ERROR, FATAL', successKw: 'OK,all done', startKw: 'BEGIN' }

for (const [bodyText, becomes] of [
  ['OK', 'success'],
  ['BEGIN', 'start'],
  ['BEGIN OK ERROR', 'fail'],
  ['BEGIN OK', 'success'],
  ['xFATALx', 'fail'],
  ['error ok begin', 'ign'],
  ['it is all done now', 'success'],
  ['it is all  done', 'ign'],
  ['', 'ign'],
] as const) {
  test(`a body of ${JSON.stringify(bodyText)} makes a ping count as ${becomes}, regardless of the URL`, (t) => {
    for (const kind of ['success', 'start', 'fail', 'log'] as const) {
      t.is(classifyHttp(aCheck(filters), { kind, method: 'POST', bodyText }), becomes)
    }
  })
}

test('a body without a keyword is ignored, or a failure if configured', (t) => {
  const ping = { kind: 'success', method: 'GET', bodyText: '' } as const
  t.is(classifyHttp(aCheck({ ...filters, filterDefaultFail: true }), ping), 'fail')
  t.is(classifyHttp(aCheck({ filterHttpBody: true }), ping), 'ign')
  t.is(classifyHttp(aCheck({ filterHttpBody: true, successKw: ' , ,' }), ping), 'ign')
})

test('mail filters apply only to mails, and the HTTP filter only to requests', (t) => {
  const check = aCheck({ ...filters, filterHttpBody: false, filterSubject: true, filterBody: true })
  t.is(classifyHttp(check, { kind: 'log', method: 'GET', bodyText: 'ERROR' }), 'log')
  t.is(classifyEmail(aCheck(filters), { subject: 'ERROR', textPieces: ['ERROR'] }), 'success')
})

test('a check for POST only ignores other methods before the search', (t) => {
  const check = aCheck({ ...filters, methods: 'POST' })
  t.is(classifyHttp(check, { kind: 'fail', method: 'GET', bodyText: 'OK' }), 'ign')
  t.is(classifyHttp(check, { kind: 'fail', method: 'POST', bodyText: 'OK' }), 'success')
  t.is(classifyEmail(check, { subject: '', textPieces: [] }), 'success')
})

test('only the filtered parts of a mail are searched, joined by a line feed', (t) => {
  const mail = { subject: 'ERROR', textPieces: ['OK', 'BEGIN'] }
  t.is(classifyEmail(aCheck({ ...filters, filterSubject: true }), mail), 'fail')
  t.is(classifyEmail(aCheck({ ...filters, filterBody: true }), mail), 'success')
  t.is(classifyEmail(aCheck({ filterSubject: true, filterBody: true, successKw: 'ERROROK' }), mail), 'ign')
})

test('a keyword that ends beyond byte 10,000 is not found; invalid bytes are accepted', (t) => {
  t.true(decodeBodyText(Buffer.from(`${'x'.repeat(9998)}OK`)).endsWith('OK'))
  t.false(decodeBodyText(Buffer.from(`${'x'.repeat(9999)}OK`)).includes('OK'))
  t.is(decodeBodyText(Buffer.from(`${'x'.repeat(9999)}é`)).at(-1), '\ufffd')
  t.is(decodeBodyText(Buffer.from([0xff, 0x4f, 0x4b])), '\ufffdOK')
  t.is(decodeBodyText(null), '')
})

for (const [html, text] of [
  ['<p>O</p>K', 'OK'],
  ['<b>S</b>UCCESS', 'SUCCESS'],
  ['<title>T</title><style>p { color: red }</style>a<script>if (a < b) "x"</script>b', 'Tab'],
  ['a<!-- <b>hidden</b> -->b', 'ab'],
  ['a &amp; b&nbsp;&lt;c&gt; &#65;&#x42; &eacute; &frac12; &nosuch;', 'a & b <c> AB é ½ &nosuch;'],
  ['  one\r\n\t two  ', 'one two'],
  ['<a title="a > b" href=\'x>y\'>link</a>', 'link'],
  ['1 < 2 <3', '1 < 2 <3'],
  ['<!DOCTYPE html><br/>x<script>never closed', 'x'],
  ['text <b', 'text'],
  ["it's <i>fine</i>", "it's fine"],
] as const) {
  test(`as text ${JSON.stringify(html)} is ${JSON.stringify(text)}`, (t) => {
    t.is(htmlToText(html), text)
  })
}

test('the text of an HTML mail has lines, separate cells and parts', (t) => {
  const html = `<style>p {}</style><h1>Back<b>up</b></h1>
    <div><div><table><tr><td>rows</td><td>12&nbsp;&amp;
    3</td></tr></table></div></div>a<br>b<blockquote>c</blockquote>1 < 2`
  t.is(htmlToLines(html), 'Backup\n\nrows 12 & 3\n\na\nb\nc\n1 < 2')
})

const { pointers, cases } = JSON.parse(
  readFileSync(new URL('../../../vectors/filter-json.json', import.meta.url), 'utf8'),
)

test('searches only the JSON member that the pointer names', (t) => {
  for (const pointer of pointers.valid) t.true(isJsonPointer(pointer), pointer)
  for (const pointer of pointers.invalid) t.false(isJsonPointer(pointer), pointer)
  for (const [pointer, body, bodyText, problem] of cases) {
    const check = aCheck({ ...filters, filterRules: { json: pointer, else: null } })
    t.deepEqual(searchedText(check, Buffer.from(body)), { bodyText, problem }, `${pointer} in ${body}`)
  }
})

test('finds no text in JSON that is longer than 10,000 bytes', (t) => {
  const check = aCheck({ ...filters, filterRules: { json: '/status', else: null } })
  const ofLength = (length: number) => Buffer.from(`{"status":"OK","pad":"${'x'.repeat(length - 24)}"}`)
  t.is(ofLength(10_000).length, 10_000)
  t.deepEqual(searchedText(check, ofLength(10_000)), { bodyText: 'OK', problem: null })
  for (const body of [ofLength(10_001), ofLength(10_001).subarray(0, 10_000)])
    t.deepEqual(searchedText(check, body), { bodyText: '', problem: 'cut' })
  const nested = (levels: number) => Buffer.from(`{"status":${'['.repeat(levels)}${']'.repeat(levels)}}`)
  t.is(searchedText(check, nested(100)).bodyText.length, 200)
  for (const levels of [101, 4_990])
    t.deepEqual(searchedText(check, nested(levels)), { bodyText: '', problem: 'not-json' })
  t.deepEqual(searchedText(aCheck({ filterRules: { json: '/status', else: null } }), ofLength(50)), {
    bodyText: '',
    problem: null,
  })
})

test('lets the URL decide only if no keyword matches', (t) => {
  const vectors = JSON.parse(readFileSync(new URL('../../../vectors/filter-else.json', import.meta.url), 'utf8'))
  for (const [settings, kind, method, bodyText, becomes] of vectors.requests) {
    const check = aCheck({ ...vectors.check, ...settings })
    t.is(classifyHttp(check, { kind, method, bodyText }), becomes, `${kind} ${method} ${bodyText}`)
  }
  for (const [settings, subject, becomes] of vectors.mails)
    t.is(classifyEmail(aCheck({ ...vectors.check, ...settings }), { subject, textPieces: [] }), becomes, subject)
})
