import test from 'ava'
import { readUploadForm } from '../../../ingress/middleware/upload-form.ts'

const TYPE = 'multipart/form-data; boundary=----WebKit7MA4'
const field = (name: string, value: string) =>
  `------WebKit7MA4\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const file = (bytes: string) =>
  `------WebKit7MA4\r\nContent-Disposition: form-data; name="file"; filename="../a;%22b.csv"\r\nContent-Type: text/csv\r\n\r\n${bytes}\r\n`
const END = '------WebKit7MA4--\r\n'

async function* cut(body: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(body: string, size = 7, type = TYPE) {
  const { form, file: bytes, fileName } = await readUploadForm(cut(body, size), type)
  const pieces: Buffer[] = []
  for await (const piece of bytes ?? []) pieces.push(piece)
  return { form: Object.fromEntries(form), file: bytes && Buffer.concat(pieces).toString(), fileName }
}

test('fields and the file behind them are read the same in pieces of any length', async (t) => {
  // Text that resembles the delimiter belongs to the file.
  const content = 'id,x\r\n1,\u20b9\r\n------WebKit7MA\r\n--\r\n\r\n'
  const body = field('_csrf', 'a+b &c') + field('name', 'gr\u00fcn') + file(content) + END
  for (let size = 1; size <= Buffer.byteLength(body); size++) {
    t.deepEqual(
      await read(body, size),
      { form: { _csrf: 'a+b &c', name: 'gr\u00fcn' }, file: content, fileName: 'a;"b.csv' },
      String(size),
    )
  }
  t.deepEqual(await read(field('a', '1') + file('') + END), { form: { a: '1' }, file: '', fileName: 'a;"b.csv' })
  t.deepEqual(await read(field('a', '1') + END), { form: { a: '1' }, file: null, fileName: null })
  t.is((await read(field('a', '1') + file('x') + field('later', '2') + END)).form.later, undefined)
  t.deepEqual((await read(field('a', '1') + END, 7, 'multipart/form-data; boundary="----WebKit7MA4"')).form, { a: '1' })
})

const refused: [string, string, string, string?][] = [
  ['another type', field('a', '1') + END, 'UNSUPPORTED_MEDIA_TYPE', 'application/x-www-form-urlencoded'],
  ['no boundary', field('a', '1') + END, 'UNSUPPORTED_MEDIA_TYPE', 'multipart/form-data'],
  ['nothing', '', 'VALIDATION_ERROR'],
  ['an end in a field', field('a', '1').slice(0, -8), 'VALIDATION_ERROR'],
  ['an end in the file', field('a', '1') + file('x').slice(0, -2), 'VALIDATION_ERROR'],
  ['a part without a name', '------WebKit7MA4\r\nX: y\r\n\r\n1\r\n------WebKit7MA4--', 'VALIDATION_ERROR'],
  ['text behind a delimiter', `${field('a', '1')}------WebKit7MA4xx`, 'VALIDATION_ERROR'],
  ['a field of 70 kB', field('a', 'x'.repeat(70_000)) + END, 'PAYLOAD_TOO_LARGE'],
  ['headers of 70 kB', `------WebKit7MA4\r\nX: ${'y'.repeat(70_000)}`, 'PAYLOAD_TOO_LARGE'],
  ['ten thousand fields', field('a', '1').repeat(10_000) + END, 'PAYLOAD_TOO_LARGE'],
  ['a NUL in a field', field('a', '1\u0000') + END, 'VALIDATION_ERROR'],
]
for (const [what, body, code, type] of refused) {
  test(`a form with ${what} is refused: ${code}`, async (t) => {
    const error = await t.throwsAsync(() => read(body, 1_000, type))
    t.is((error as unknown as { code: string }).code, code)
  })
}
