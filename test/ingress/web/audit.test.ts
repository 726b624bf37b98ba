import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { auditLabels, auditParts, nounsOf } from '../../../ingress/web/organisations/audit-labels.ts'
import { root, sourcesBelow } from '../../support/imports.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, join as joinTeam, signedIn, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor

test.before(async () => {
  app = await sharedProduct()
  team = await createTeam(app, 'Acme')
  await joinTeam(app, team, 'owner', 'ada@example.com')
  owner = await signedIn(app, 'ada@example.com')
})

/** Returns the actions that the source code writes into the audit log. */
function writtenActions(): string[] {
  const calls =
    /(?:\baction: |\b(?:note|audit|auditAccount|auditCheck|noted|change)\((?:[^()']|\(\w*\))*?)'([a-z-]+\.[a-z_-]+)'/g
  const files = ['shared', 'ingress'].flatMap(sourcesBelow)
  return [
    ...new Set(
      files.flatMap((file) => [...readFileSync(join(root, file), 'utf8').matchAll(calls)].map(([, it = '']) => it)),
    ),
  ].toSorted()
}

const written = writtenActions()

test('the search finds known actions in the source code', (t) => {
  for (const known of [
    'check.changed',
    'sign-in.failed',
    'webhook.resent',
    'pool.cut',
    'member.removed',
    'subject.moved',
  ])
    t.true(written.includes(known), known)
})

for (const action of writtenActions())
  test(`the log has a label and one filter for ${action}`, (t) => {
    t.notRegex(auditLabels(action), /[._]/)
    t.not(auditLabels(action), action)
    t.is(auditParts.filter(({ value }) => nounsOf(value).includes(action.split('.')[0] ?? '')).length, 1)
  })

const path = () => `/organisations/${team.organisationUuid}/audit`
const entriesOf = (html: string) =>
  [...html.matchAll(/<tr><td[^>]*>.*?<\/tr>/g)].map(([row]) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/g)]
      .slice(1, 4)
      .map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, ''))
      .join(' | '),
  )

test.serial('an entry names the actor, the action and the object, and the changed fields of a check', async (t) => {
  const uuid = await addCheck(owner, team, { name: 'Night job' })
  const fields = {
    name: 'Day job',
    kind: 'simple',
    timeout: '2',
    timeout_unit: 'hours',
    grace: '5',
    grace_unit: 'minutes',
  }
  t.is((await owner.post(`/checks/${uuid}/edit`, { ...fields, slug: 'night-job' }, `/checks/${uuid}/edit`)).status, 303)
  const { text } = await owner.get(path())
  t.deepEqual(entriesOf(text).slice(0, 3), [
    'ada@example.com | changed a check | Day job: name (was “Night job”), period',
    'ada@example.com | created a check | Night job',
    'ada@example.com | signed in | ',
  ])
  t.regex(text, /title="check\.changed"/, 'the title contains the action code')
})

test.serial('a change by a program names its key and the changed fields', async (t) => {
  const other = await createTeam(app, 'Beta')
  const reader = await joinTeam(app, other, 'owner', 'bea@example.com')
  const settings = `/projects/${other.project.uuid}`
  await reader.post(`${settings}/keys`, { kind: 'rw', key_name: 'CI' }, `${settings}/keys`)
  const shown = (await reader.get(`${settings}/keys`)).text
  const [, key = ''] = /data-copy="([\w-]{32})"/.exec(shown) ?? []
  const call = async (path: string, method: string, body: object) =>
    await fetch(`${app.url}/api/v3/checks/${path}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const made = await call('', 'POST', { name: 'Import' })
  const { uuid } = (await made.json()) as { uuid: string }
  t.deepEqual([made.status, (await call(uuid, 'POST', { tags: 'night' })).status], [201, 200])
  const { text } = await reader.get(`/organisations/${other.organisationUuid}/audit?part=checks`)
  const who = /API key \d+ \(CI\) of Beta project/.exec(text)?.[0]
  t.deepEqual(entriesOf(text), [`${who} | changed a check | Import: tags`, `${who} | created a check | Import`])
})

test.serial('the log is filtered by object and text, and has pages', async (t) => {
  const about = async (query: string) => entriesOf((await owner.get(`${path()}?${query}`)).text)
  t.deepEqual(await about('part=people'), ['ada@example.com | signed in | '])
  t.deepEqual(await about('q=NIGHT+job'), [
    'ada@example.com | changed a check | Day job: name (was “Night job”), period',
    'ada@example.com | created a check | Night job',
  ])
  t.deepEqual(await about('part=people&q=night'), [])
  t.deepEqual(await about('q=%25'), [], 'a LIKE wildcard is searched literally')
  t.is((await about('part=nothing&before=x')).length, 3, 'invalid parameters are ignored')
  await app.deps.db.raw(
    `INSERT INTO audit_log (organisation_id, actor, action, target, address)
     SELECT ?, 'operator root', 'check.created', 'Many ' || n, '' FROM generate_series(1, 150) n`,
    [team.organisationId],
  )
  const first = (await owner.get(`${path()}?part=checks&q=many`)).text
  const older = /href="([^"]+)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
  t.deepEqual([entriesOf(first).length, entriesOf((await owner.get(older)).text).length], [100, 50])
})

test.serial('only members who manage the organisation see the log', async (t) => {
  const member = await joinTeam(app, team, 'member')
  t.is((await member.get(`${path()}?q=ada`)).status, 403)
})
