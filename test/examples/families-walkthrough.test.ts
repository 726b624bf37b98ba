import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createVisitor } from '../ingress/web/visitor.ts'
import { openClient } from '../support/platform-client.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { blocksRunBy, sharedProduct, shell } from './walkthrough.ts'

/** The commands of docs/families.md, in order. */
const blocks = blocksRunBy('docs/families.md', import.meta.filename)

/** Answers the request as the buyer would, in a browser. */
async function acceptByLink(base: string, sandboxUrl: string): Promise<void> {
  const path = new URL(sandboxUrl).pathname
  const buyer = createVisitor(base)
  await buyer.post(`${path}/code`, {}, path)
  const code = /Your code is ([0-9]{6})/.exec((await buyer.get(path)).text)?.[1] ?? ''
  const { status } = await buyer.post(`${path}/answer`, { code, action: 'ACCEPTED' }, path)
  if (status !== 303) throw new Error(`the buyer could not answer: ${status}`)
}

test('two organisations walk through docs/families.md with curl, and every object verifies offline', async (t) => {
  const product = await sharedProduct()
  const { url: base, bin } = product
  const [one, other] = [await openClient(product, base), await openClient(product, base)]
  const folder = temporaryFolder('families')
  const [preamble = '', ...steps] = blocks.map(({ text }) =>
    text
      .replace('http://localhost:8080', base)
      .replace('-H "x-idempotency-key', "-H 'Prefer: wait=25' -H \"x-idempotency-key"),
  )
  const json = async (name: string) => JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'))
  const answered = steps.findIndex((text) => text.includes('>confirmed.json'))
  const receivableLines = steps.find((text) => text.includes('RECEIVABLE=')) ?? ''
  const variables = receivableLines.slice(0, receivableLines.indexOf('api POST'))
  const run = async (parts: readonly string[]) => {
    const env = { TOKEN: one.token, OTHER: other.token }
    const { code, out } = await shell([preamble, variables, ...parts].join('\n'), { bin, cwd: folder, ...env })
    t.is(code, 0, out)
  }
  await run(steps.slice(0, answered))
  t.is((await json('stated')).tier, 'LENDER_SIDE')
  await acceptByLink(base, (await json('request')).sandboxUrl)
  await run(steps.slice(answered))
  t.regex((await json('verification')).vei, /^[A-Z2-7]{25}[0-9A-Z]$/)
  t.is((await json('financed')).state, 'FINANCED')
  const check = await json('check')
  t.is(check.status, 'DUPLICATE_FINANCED')
  t.deepEqual(Object.keys(check.matches[0]).toSorted(), [
    'class',
    'contested',
    'firstSeenMonth',
    'ownRegistration',
    'state',
  ])
  const { registrationId } = await json('registration')
  for (const secret of [registrationId, one.credentials.organisationId]) t.false(JSON.stringify(check).includes(secret))
  t.is((await json('dispute')).state, 'OPEN')
  t.is((await json('acceptance')).tier, 'REGISTRY_VERIFIED')
  t.is((await json('timeline')).summary.dilutionBps, 500)
  const dilution = await json('dilution')
  t.is(dilution.acceptance.accepted, 1)
  t.is(dilution.linked.notes, 1)
  t.true(dilution.creditNoteCount > 0)
  t.is((await json('confirmed')).summary.tier, 'ISSUER_CONFIRMED')
  t.is((await json('absence')).snapshot.eventType, 'first_financing.snapshot')
})
