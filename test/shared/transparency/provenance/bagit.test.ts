import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import test from 'ava'
import { ZipFile } from 'yazl'
import { bundleError, createBundle } from '#shared/transparency/provenance/bagit.ts'
import { readZip, writeZip } from '#shared/transparency/provenance/zip.ts'

const folder = mkdtempSync(join(tmpdir(), 'bag-'))
test.after.always(() => rmSync(folder, { recursive: true }))

const files = () =>
  createBundle(
    new Map([
      ['b.txt', Buffer.from('two')],
      ['a.json', Buffer.from('{}')],
    ]),
    [['External-Identifier', 'x']],
  )

test('equal files give equal BagIt packages in every time zone and order', async (t) => {
  const script = `
    const { createBundle } = await import('#shared/transparency/provenance/bagit.ts')
    const { writeZip } = await import('#shared/transparency/provenance/zip.ts')
    const bag = createBundle(new Map([['a.json', Buffer.from('{}')], ['b.txt', Buffer.from('two')]]), [['External-Identifier', 'x']])
    process.stdout.write(await writeZip(bag))`
  const paths = ['Asia/Kolkata', 'America/Los_Angeles'].map((TZ) => {
    const path = join(folder, TZ.replace('/', '-'))
    const env = { ...process.env, TZ }
    writeFileSync(
      path,
      execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { env }),
    )
    return path
  })
  const here = join(folder, 'here')
  writeFileSync(here, await writeZip(files()))
  for (const path of paths) t.notThrows(() => execFileSync('cmp', [here, path]))
})

test('a BagIt package can be read, and sha256sum confirms its manifest', async (t) => {
  const bytes = await writeZip(files())
  t.deepEqual(new Map([...(await readZip(bytes))].sort()), new Map([...files()].sort()))
  t.is(bundleError(await readZip(bytes)), null)
  const listed = files().get('manifest-sha256.txt')?.toString() ?? ''
  t.deepEqual(
    listed.split('\n').map((line) => line.slice(66)),
    ['data/a.json', 'data/b.txt', ''],
  )
  for (const [name, content] of [
    ['data/a.json', '{}'],
    ['data/b.txt', 'two'],
  ] as const) {
    const digest = execFileSync('sha256sum', { input: content, encoding: 'utf8' }).slice(0, 64)
    t.true(listed.includes(`${digest}  ${name}\n`))
  }
})

test('each value of bag-info is one line', (t) => {
  const info = createBundle(new Map(), [['External-Description', 'a\nPayload-Oxum: 0.0']])
    .get('bag-info.txt')
    ?.toString()
  t.is(info, 'External-Description: a Payload-Oxum: 0.0\nPayload-Oxum: 0.0\n')
})

for (const [fault, change] of Object.entries<(bundle: Map<string, Buffer>) => void>({
  'a changed file': (bundle) => bundle.set('data/a.json', Buffer.from('[]')),
  'an additional file': (bundle) => bundle.set('data/c.txt', Buffer.from('')),
  'a missing file': (bundle) => bundle.delete('data/b.txt'),
  'an additional tag file': (bundle) => bundle.set('fetch.txt', Buffer.from('https://example.org - data/x')),
  'a changed manifest': (bundle) => bundle.set('manifest-sha256.txt', Buffer.from('')),
  'no manifest': (bundle) => bundle.delete('tagmanifest-sha256.txt'),
  'another version': (bundle) => bundle.set('bagit.txt', Buffer.from('BagIt-Version: 0.97\n')),
}))
  test(`${fault} makes a BagIt package invalid`, (t) => {
    const bundle = new Map(files())
    change(bundle)
    t.truthy(bundleError(bundle))
  })

/** Creates a ZIP with an attacker's name by changing its bytes, because the writer refuses such names. */
async function zipNamed(name: string): Promise<Buffer> {
  const placeholder = 'n'.repeat(Buffer.byteLength(name))
  return Buffer.from(
    (await writeZip(new Map([[placeholder, Buffer.from('x')]]))).toString('latin1').replaceAll(placeholder, name),
    'latin1',
  )
}

for (const name of [
  '../evil',
  'data/../../evil',
  '/etc/passwd',
  'C:\\evil',
  'data\\evil',
  'data//x',
  './x',
  'x/',
  '-x',
  'a b',
])
  test(`a BagIt package with a file called ${name} is refused`, async (t) => {
    await t.throwsAsync(readZip(await zipNamed(name)), { code: 'BAG_MALFORMED' })
  })

test('names that differ only in case, and compressed, truncated or other files are refused', async (t) => {
  await t.throwsAsync(
    readZip(
      await writeZip(
        new Map([
          ['a', Buffer.alloc(1)],
          ['A', Buffer.alloc(1)],
        ]),
      ),
    ),
    { code: 'BAG_MALFORMED' },
  )
  const deflated = new ZipFile()
  deflated.addBuffer(Buffer.alloc(1_000_000), 'bomb', { compress: true })
  deflated.end()
  await t.throwsAsync(readZip(await buffer(deflated.outputStream)), { code: 'BAG_MALFORMED' })
  const whole = await writeZip(files())
  await t.throwsAsync(readZip(whole.subarray(0, whole.length - 30)), { code: 'BAG_MALFORMED' })
  await t.throwsAsync(readZip(Buffer.from('PK\u0003\u0004 nothing')), { code: 'BAG_MALFORMED' })
})
