import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import test from 'ava'
import { createVisitor } from '../ingress/web/visitor.ts'
import { blocksOf } from '../support/doc-blocks.ts'
import { root } from '../support/imports.ts'
import { openClient } from '../support/platform-client.ts'
import { openProduct } from '../support/product.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The commands of docs/families.md, in order. */
const blocks = blocksOf('docs/families.md').filter(({ mark }) => mark?.includes(basename(import.meta.filename)))

async function shell(script: string, cwd: string, env: Record<string, string>): Promise<number> {
  const child = spawn('bash', ['--norc', '-c', script], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return await new Promise((resolve) => child.once('close', (code) => resolve(code ?? -1)))
}

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
  await using product = await openProduct({ env: { CHECKPOINT_DIR: temporaryFolder('checkpoints') } })
  const { base } = await product.ingress()
  await product.workers(['financing-registrar', 'kyb-verifier', 'acceptance-recorder', 'dilution-measurer', 'anchor'])
  const [one, other] = [await openClient(product, base), await openClient(product, base)]
  const folder = temporaryFolder('families')
  const [preamble = '', ...steps] = blocks.map(({ text }) =>
    text
      .replace('http://localhost:8080', base)
      .replace('-H "x-idempotency-key', "-H 'Prefer: wait=25' -H \"x-idempotency-key")
      .replace('npm run -s verify --', `npm --prefix ${root} run -s verify --`)
      .replace('-- $OBJECT.json --proof proof.json', `-- ${folder}/$OBJECT.json --proof ${folder}/proof.json`),
  )
  const json = async (name: string) => JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'))
  const answered = steps.findIndex((text) => text.includes('>confirmed.json'))
  const receivableLines = steps.find((text) => text.includes('RECEIVABLE=')) ?? ''
  const variables = receivableLines.slice(0, receivableLines.indexOf('api POST'))
  const run = async (parts: readonly string[]) => {
    const env = { TOKEN: one.token, OTHER: other.token }
    t.is(await shell(`set -e\n${[preamble, variables, ...parts].join('\n')}`, folder, env), 0)
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
