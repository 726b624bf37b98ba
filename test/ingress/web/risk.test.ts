import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { Role } from '#shared/tenancy/accounts/roles.ts'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, emailOf, join, type Team } from './people.ts'
import { createVisitor, type Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let base: string
let pack: string
let stranger: Visitor
const people = new Map<Role, Visitor>()

test.before(async () => {
  app = await sharedProduct({ workers: ['pack-composer', 'anchor', 'sweeper'] })
  team = await createTeam(app, 'Acme <Finance>')
  await grantFamilies(app.deps.db, team.organisationId, ['risk-signals'])
  base = `/organisations/${team.organisationUuid}/risk/sandbox`
  for (const role of ['owner', 'manager', 'member', 'read-only'] as const) people.set(role, await join(app, team, role))
  stranger = await join(app, await createTeam(app, 'Other'), 'owner')
  pack = await makePack(person('member'), { dealId: '<b>deal</b>' })
})

function person(role: Role): Visitor {
  const found = people.get(role)
  if (!found) throw new Error(`no user has the role ${role}`)
  return found
}

const demo = {
  buyerGstin: '27AAACB1234C1ZF',
  borrowerGstin: '29AAACR5678D1Z5',
  subcontractorGstin: '24AAFFS4321K1ZA',
  poValue: '12,50,000',
}

async function makePack(visitor: Visitor, fields: Record<string, string> = {}): Promise<string> {
  const answer = await visitor.post(`${base}/packs/new`, { ...demo, requestKey: randomUUID(), ...fields })
  const path = answer.headers.location ?? ''
  const id = path.split('/').at(-1) ?? ''
  await eventually('the pack on its page', async () => (await visitor.get(path)).status === 200)
  return id
}

test('a pack is created on a form and shown with tiers and anchor', async (t) => {
  const { status, text } = await person('read-only').get(`${base}/packs/${pack}`)
  t.is(status, 200)
  for (const part of [
    'Sandbox — not evidence.',
    'never a recommendation',
    '₹7,25,71,120.30 <small class="together">(7.26 crore)',
    'Registry verified',
    'Verify it yourself',
  ])
    t.true(text.includes(part), part)
  const stacked = /<table class="[^"]*\bevidence stacked">[\s\S]*?<\/table>/.exec(text)?.[0] ?? ''
  for (const label of ['Source', 'As of (UTC)', 'Consent']) t.true(stacked.includes(`data-label="${label}"`), label)
  t.notRegex(stacked, /UTC<\/td>/, 'UTC is only in the column title')
})

test('the list, the page and the comparison of packs name the borrower', async (t) => {
  const list = await person('read-only').get(`${base}/packs`)
  t.true(list.text.includes(`data-label="Borrower">${demo.borrowerGstin}<`))
  const { text } = await person('read-only').get(`${base}/packs/${pack}`)
  const [chain = ''] = /<ol class="parties"[\s\S]*?<\/ol>/.exec(text) ?? []
  const parties = [...chain.matchAll(/<small>([^<]+)<\/small><span[^>]*>([^<]+)</g)].map(([, role, gstin]) => [
    role,
    gstin,
  ])
  t.deepEqual(parties, [
    ['Buyer', demo.buyerGstin],
    ['Borrower', demo.borrowerGstin],
    ['Subcontractor', demo.subcontractorGstin],
  ])
  t.regex(chain, /orders for ₹12,50,000\.00/)
  const compared = await person('read-only').get(`${base}/compare?pack=${pack}&pack=${pack}`)
  t.regex(compared.text, new RegExp(`>Borrower</th><td class="figure" data-label="First">${demo.borrowerGstin}<`))
  t.true(compared.text.includes('All signals have the same values.'))
})

test('a form that is sent twice creates one pack', async (t) => {
  const fields = { ...demo, requestKey: randomUUID() }
  const first = await person('member').post(`${base}/packs/new`, fields)
  const second = await person('member').post(`${base}/packs/new`, fields)
  t.is(first.status, 303)
  t.is(second.headers.location, first.headers.location)
})

test('an error of the API is shown at its field', async (t) => {
  const answer = await person('member').post(`${base}/packs/new`, {
    ...demo,
    requestKey: randomUUID(),
    buyerGstin: '<script>1</script>',
    poValue: 'much',
  })
  t.is(answer.status, 422)
  t.true(answer.text.includes('id="buyerGstin-error"'))
  t.true(answer.text.includes('id="poValue-error"'))
  t.false(answer.text.includes('<script>1'))
})

for (const role of ['read-only', 'manager'] as const)
  test(`the page of a pack lists its sections in order for role ${role}`, async (t) => {
    const { text } = await person(role).get(`${base}/packs/${pack}`)
    const [main = ''] = text.split('</main>')
    const contents = /<nav class="page-contents"[\s\S]*?<\/nav>/.exec(main)?.[0] ?? ''
    const parts = [...contents.matchAll(/<a href="#([^"]+)">([^<]+)</g)].map(([, id, label]) => `${id} ${label}`)
    const titles = [...main.matchAll(/<h2 id="([^"]+)">([^<]+)</g)].map(([, id, label]) => `${id} ${label}`)
    t.is(titles.includes('shares-title Share links'), role === 'manager')
    t.true(titles.length > 10)
    t.deepEqual(parts, titles)
  })

test('texts of callers are escaped', async (t) => {
  const { text } = await person('owner').get(`${base}/packs`)
  t.true(text.includes('&lt;b>deal&lt;/b>') || text.includes('&lt;b&gt;deal&lt;/b&gt;'))
  t.false(text.includes('<b>deal'))
})

test('pages allow no inline script or style, and no framing', async (t) => {
  for (const path of [`${base}/packs/${pack}`, '/verify']) {
    const { headers, text } = await person('owner').get(path)
    const policy = String(headers['content-security-policy'])
    t.regex(policy, /default-src 'none'; script-src 'self'; style-src 'self'/)
    t.regex(policy, /frame-ancestors 'none'/)
    t.notRegex(policy, /unsafe/)
    t.notRegex(text, /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=/)
  }
})

test('a stranger gets 404, a visitor is redirected to the sign-in', async (t) => {
  for (const path of [
    'packs',
    `packs/${pack}`,
    `packs/${pack}/pdf`,
    `packs/${pack}/json`,
    'clients',
    'usage',
    'webhooks',
  ]) {
    t.is((await stranger.get(`${base}/${path}`)).status, 404, path)
    const answer = await createVisitor(app.url).get(`${base}/${path}`)
    t.is(answer.status, 303, path)
    t.regex(answer.headers.location ?? '', /^\/sign-in/)
  }
  const other = await eventually('the organisation', async () => {
    const row = await app.deps.db('organisations').where({ name: 'Other' }).first('uuid')
    return String(row?.uuid)
  })
  t.is((await stranger.get(`/organisations/${other}/risk/sandbox/packs/${pack}`)).status, 404)
  t.is((await person('owner').get(`${base.replace('sandbox', 'production')}/packs/${pack}`)).status, 404)
  t.is((await person('owner').get(`${base.replace('sandbox', 'staging')}/packs`)).status, 404)
})

test('an organisation without the entitlement cannot create packs on pages', async (t) => {
  const poor = await createTeam(app, 'Without')
  const owner = await join(app, poor, 'owner', 'poor@example.com')
  const path = `/organisations/${poor.organisationUuid}/risk/sandbox/packs`
  t.is((await owner.get(`${path}/new`)).status, 403)
  t.is((await owner.post(`${path}/new`, { ...demo, requestKey: randomUUID() }, path)).status, 403)
  t.true((await owner.get(path)).text.includes('No pack yet'))
})

test('pages cannot create live packs', async (t) => {
  t.is((await person('owner').get(`${base.replace('sandbox', 'production')}/packs/new`)).status, 404)
})

for (const { what, path, refused } of [
  { what: 'request a pack', path: () => `${base}/packs/new`, refused: ['read-only'] },
  { what: 'share a pack', path: () => `${base}/packs/${pack}/shares`, refused: ['read-only', 'member'] },
  {
    what: 'revoke a link',
    path: () => `${base}/packs/${pack}/shares/${randomUUID()}/revoke`,
    refused: ['read-only', 'member'],
  },
  { what: 'resend', path: () => `${base}/deliveries/${randomUUID()}/resend`, refused: ['read-only'] },
  { what: 'replay', path: () => `${base}/webhooks/${randomUUID()}/replay`, refused: ['read-only', 'member'] },
] as const)
  for (const role of refused)
    test(`role ${role} may not ${what}, and the attempt is audited`, async (t) => {
      const tried = path()
      t.is((await person(role).post(tried, {}, `${base}/packs`)).status, 403)
      const { rows } = await app.deps.db.raw<{ rows: { actor: string }[] }>(
        `SELECT actor FROM audit_log WHERE action = 'request.denied' AND target LIKE '%' || ?`,
        [tried],
      )
      t.true(rows.some(({ actor }) => actor === emailOf(team, role)))
    })

test('a share link shows the pack until it is revoked', async (t) => {
  await person('manager').post(`${base}/packs/${pack}/shares`, {}, `${base}/packs/${pack}`)
  const made = await person('manager').get(`${base}/packs/${pack}`)
  const link = /\/share\/packs\/([A-Za-z0-9_-]{43})/.exec(made.text)
  t.truthy(link)
  const path = link?.[0] ?? ''
  const visitor = createVisitor(app.url)
  const shown = await visitor.get(path)
  t.is(shown.status, 200)
  t.true(shown.text.includes(pack))
  t.false(shown.text.includes(demo.borrowerGstin), 'the borrower is not part of a pack')
  t.true(shown.text.includes('<meta name="robots" content="noindex"'))
  t.is(shown.headers['x-robots-tag'], 'noindex, nofollow')
  const pdf = await eventually('the document', async () => {
    const answer = await visitor.get(`${path}/pdf`)
    return answer.status === 200 && answer
  })
  t.is(pdf.headers['content-type'], 'application/pdf')

  const { rows } = await app.deps.db.raw<{ rows: { text: string }[] }>(
    'SELECT row_to_json(s)::text AS text FROM pack_shares s WHERE pack_id = ?',
    [pack],
  )
  t.false(
    rows.some(({ text }) => text.includes(link?.[1] ?? '')),
    'the token is not stored',
  )

  const page = await person('manager').get(`${base}/packs/${pack}`)
  const [revokePath = ''] = /\/organisations\/[^"]+\/shares\/[^"]+\/revoke/.exec(page.text) ?? []
  const revoked = await person('manager').post(revokePath, {}, `${base}/packs/${pack}`)
  t.is(revoked.status, 303)
  for (const gone of [path, `${path}/pdf`, `/share/packs/${'A'.repeat(43)}`]) {
    const answer = await visitor.get(gone)
    t.is(answer.status, 404, gone)
    t.is(answer.headers['x-robots-tag'], 'noindex, nofollow')
  }
})

test('pages of a long list contain each pack once', async (t) => {
  const { rows } = await app.deps.db.raw<{ rows: { id: string }[] }>(
    `INSERT INTO packs (id, organisation_id, env, sealed_request, requested_at)
     SELECT gen_random_uuid(), ?, 'PRODUCTION', '', now() - make_interval(secs => n / 3) FROM generate_series(1, 120) n
     RETURNING id`,
    [team.organisationId],
  )
  const seen: string[] = []
  let path: string | undefined = `${base.replace('sandbox', 'production')}/packs`
  while (path) {
    const { text }: { text: string } = await person('read-only').get(path)
    seen.push(...[...text.matchAll(/class="mono" href="[^"]+\/([0-9a-f-]{36})"/g)].map((match) => match[1] ?? ''))
    path = /href="([^"]+)"[^>]*rel="next"|rel="next" href="([^"]+)"/.exec(text)?.slice(1).find(Boolean)
  }
  t.deepEqual(seen.toSorted(), rows.map(({ id }) => id).toSorted())
  t.is((await person('read-only').get(`${base}/packs?cursor=nonsense`)).status, 400)
})

test('the list of packs shows tiers and filters by signal level', async (t) => {
  const thin = await makePack(person('member'), { scenario: '12', scenarioOf: 'borrowerGstin' })
  const rows = async (query = '') => {
    const { text } = await person('read-only').get(`${base}/packs${query}`)
    const found = [...text.matchAll(/<tr><td>[\s\S]*?<\/tr>/g)].map(([row]) => row)
    return new Map(found.map((row) => [/packs\/([0-9a-f-]{36})"/.exec(row)?.[1] ?? '', row]))
  }
  const incomplete = await eventually('the pack', async () => {
    const found = await rows('?level=INCOMPLETE')
    return found.has(thin) && found
  })
  const all = await rows()
  t.regex(all.get(pack) ?? '', /aria-label="14 registry verified, 1 lender side, 2 document signed, 2 self-declared"/)
  t.regex(all.get(pack) ?? '', /none missing/)
  t.regex(all.get(thin) ?? '', /\d+ missing<\/small>/)
  t.false(incomplete.has(pack))
  t.true((await rows('?level=CLEAR')).has(pack))
  t.is((await rows('?level=CONFLICTED')).size, 0)
})

test('clients, entitlements and usage are shown without secrets', async (t) => {
  const clients = await person('read-only').get(`${base}/clients`)
  t.regex(clients.text, /Risk signals packs <small class="mono">risk-signals<\/small>[\s\S]*?>granted</)
  const usage = await person('read-only').get(`${base}/usage`)
  t.true(usage.text.includes('risk-signals'))
  t.regex(usage.text, /\d+ units? this month, \d+ of them today \(UTC\)/)
  const production = await person('read-only').get(`${base.replace('sandbox', 'production')}/usage`)
  t.regex(production.text, /No units in production yet[\s\S]*\/clients">See the clients</)
})

test('the verification page works without scripts, and lists its limits', async (t) => {
  const visitor = createVisitor(app.url)
  const plain = await visitor.get('/verify')
  t.true(plain.text.includes('npm run -s verify'))
  const unknown = await visitor.get(`/verify?txId=${'0'.repeat(64)}`)
  t.true(unknown.text.includes('The log contains no transaction'))
  const nasty = await visitor.get('/verify?txId=%3Cscript%3Ealert(1)%3C/script%3E')
  t.false(nasty.text.includes('<script>alert'))
  t.is((await visitor.get(`/verify/files/${'0'.repeat(64)}`)).status, 404)
})
