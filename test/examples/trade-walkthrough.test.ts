import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { openClient } from '../support/platform-client.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { blocksRunBy, sharedProduct, shell } from './walkthrough.ts'

/** The commands of docs/trade.md, in order. */
const blocks = blocksRunBy('docs/trade.md', import.meta.filename)

test('an exporter walks through docs/trade.md with curl, and its bag verifies with the verifier alone', async (t) => {
  const product = await sharedProduct()
  const client = await openClient(product, product.url)
  const folder = temporaryFolder('trade')
  const script = blocks
    .map(({ text }) => text)
    .join('\n')
    .replace('http://localhost:8080', product.url)
    .replace('-H "x-idempotency-key', "-H 'Prefer: wait=25' -H \"x-idempotency-key")
  const { code, out } = await shell(script, { bin: product.bin, cwd: folder, TOKEN: client.token })
  t.is(code, 0, out)
  const json = async (name: string) => JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'))
  t.like(await json('verified'), { valid: true, reasons: [] })
  const chain = (await json('pack')).checks.find(({ key }: { key: string }) => key === 'chain.invoice')
  t.like(chain, { result: 'MATCH', tier: 'SELF_DECLARED' })
})
