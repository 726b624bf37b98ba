import test from 'ava'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
let reader: Visitor
let uuid: string
let pingKey: string

test.before(async () => {
  app = await sharedProduct()
  team = await createTeam(app, 'Acme')
  owner = await join(app, team, 'owner')
  reader = await join(app, team, 'read-only')
  uuid = await addCheck(owner, team, { name: 'Backup', slug: 'backup' })
  const page = await owner.post(`/projects/${team.project.uuid}/keys`, { kind: 'ping' }, '/account')
  pingKey = /\/ping\/([\w-]{22})(?![\w-])/.exec(page.text + (await owner.get(`/checks/${uuid}`)).text)?.[1] ?? ''
  await send(app.url, `/ping/${uuid}`, { method: 'POST', body: bodyOfPing() })
  await eventually('the ping to be stored', async () => {
    return (await owner.get(`/checks/${uuid}/pings/1`)).status === 200
  })
})

const bodyOfPing = () => `To: ${uuid.toUpperCase()}@localhost, ${pingKey}+backup@localhost\n\n${uuid}`
const key = () => uniqueKey(uuid)
const pages = [
  () => `/projects/${team.project.uuid}/checks`,
  () => `/checks/${key()}`,
  () => `/checks/${key()}/pings/1`,
  () => `/checks/${key()}/pings/1/body`,
]

test('a viewer sees no ping URL, and pages use unique keys', async (t) => {
  t.regex(pingKey, /^[\w-]{22}$/, 'the owner sees the ping key')
  t.true((await owner.get(`/checks/${uuid}`)).text.includes(`/ping/${uuid}`))
  for (const path of pages) {
    const answer = await reader.get(path())
    t.is(answer.status, 200, path())
    t.false(answer.text.toLowerCase().includes(uuid), `uuid at ${path()}`)
    t.false(answer.text.includes(pingKey), `ping key at ${path()}`)
  }
})

test('everyone sees the badge of a check on its page', async (t) => {
  const { badge_key: badgeKey } = await app.deps.db('checks').where({ uuid }).first('badge_key')
  for (const page of [await owner.get(`/checks/${uuid}`), await reader.get(`/checks/${key()}`)]) {
    t.true(page.text.includes(`src="/b/3/${badgeKey}.svg"`))
    t.regex(page.text, new RegExp(`!\\[Backup\\]\\(http[^)]*/b/3/${badgeKey}\\.svg\\)`))
  }
  const badge = await send(app.url, `/b/3/${badgeKey}.svg`)
  t.is(badge.headers['content-type'], 'image/svg+xml')
})

test('ping URLs in the body for a viewer are masked', async (t) => {
  const sent = bodyOfPing()
  t.is((await owner.get(`/checks/${uuid}/pings/1/body`)).text, sent)
  const seen = await reader.get(`/checks/${key()}/pings/1/body`)
  const hidden = sent.replaceAll(new RegExp(uuid, 'gi'), '*'.repeat(36)).replaceAll(pingKey, '*'.repeat(22))
  t.is(seen.text, hidden)
})

test('ping URLs in an encoded mail are masked for a viewer', async (t) => {
  const mail = `From: a@example.com\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(bodyOfPing()).toString('base64')}`
  await app.deps.db.raw(
    `INSERT INTO pings (check_id, slot, n, type, at, scheme, method, ua, body)
     SELECT id, 2, 2, 'success', now(), 'email', '', '', ? FROM checks WHERE uuid = ?`,
    [Buffer.from(mail), uuid],
  )
  await app.deps.db('checks').where({ uuid }).update({ n_pings: 2 })
  t.true((await owner.get(`/checks/${uuid}/pings/2`)).text.includes(uuid.toUpperCase()))
  for (const path of ['', '?view=html', '/mail']) {
    const { status, text } = await reader.get(`/checks/${key()}/pings/2${path}`)
    t.is(status, 200)
    t.false(text.toLowerCase().includes(uuid), path)
    t.false(text.includes(pingKey), path)
  }
})

test('a link in a message does not redirect a viewer to the uuid', async (t) => {
  t.is((await owner.get(`/checks/${key()}`)).headers.location, `/checks/${uuid}`)
  t.is((await reader.get(`/checks/${key()}`)).headers.location, undefined)
})

test('a viewer does not see the destination of an integration', async (t) => {
  const made = await owner.post(`/projects/${team.project.uuid}/integrations/new/webhook`, {
    name: 'Hook',
    'option-url_down': 'https://hooks.example/secret-path',
  })
  const path = made.headers.location?.split('?')[0] ?? ''
  t.true((await owner.get(path)).text.includes('secret-path'))
  const seen = await reader.get(path)
  t.is(seen.status, 200)
  t.false(seen.text.includes('secret-path'))
  t.true(seen.text.includes('stored, not shown'))
})
