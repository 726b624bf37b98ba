import test from 'ava'
import { MAX_LOGO_BYTES } from '#shared/monitoring/pages/logo.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(40, 1)])
const JPEG = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(40, 2)])
const WEBP = Buffer.concat([Buffer.from('RIFF\x28\0\0\0WEBPVP8 '), Buffer.alloc(40, 3)])

let app: HttpProduct
let team: Team
let owner: Visitor
let base: string
let page: string

test.before(async () => {
  app = await sharedProduct()
})
/** Creates a published status page for each test. */
async function setUp(): Promise<void> {
  team = await createTeam(app, 'Team')
  owner = await join(app, team, 'owner')
  base = `/projects/${team.project.uuid}`
  await owner.post(`${base}/status-page`, { title: 'Acme', tags: '', intro: '' }, '/account')
  page = `/status/${(await app.db('status_pages').where({ project_id: team.project.id }).first('token'))?.token}`
}

/** Uploads a logo. @returns the message on the next page */
async function upload(bytes: Buffer, type = 'image/png', visitor = owner): Promise<string> {
  const form = new FormData()
  form.set('_csrf', await visitor.token('/account'))
  form.set('logo', new Blob([new Uint8Array(bytes)], { type }), 'logo.png')
  const cookie = [...visitor.cookies].map((pair) => pair.join('=')).join('; ')
  const answer = await fetch(`${app.url}${base}/status-page/logo`, {
    method: 'POST',
    headers: { cookie },
    body: form,
    redirect: 'manual',
  })
  if (answer.status !== 303) return `${answer.status}`
  for (const line of answer.headers.getSetCookie()) {
    const [name = '', value = ''] = line.split(';')[0]?.split('=') ?? []
    visitor.cookies.set(name, value)
  }
  const { text } = await visitor.get(`${base}/status-page`)
  return /class="(?:notice|problem)" role="(?:status|alert)">([^<]*)/.exec(text)?.[1] ?? ''
}

const shown = async () => await fetch(`${app.url}${page}/logo`)

for (const [type, bytes] of [
  ['image/png', PNG],
  ['image/jpeg', JPEG],
  ['image/webp', WEBP],
] as const)
  test.serial(`a logo of ${type} is public and served with its detected type`, async (t) => {
    await setUp()
    t.is((await shown()).status, 404)
    t.is(await upload(bytes, 'text/html'), 'The logo is shown above the status page.')
    const answer = await shown()
    t.is(answer.headers.get('content-type'), type)
    t.is(answer.headers.get('x-content-type-options'), 'nosniff')
    t.is(answer.headers.get('content-security-policy'), "default-src 'none'; sandbox")
    t.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes)
    const { text } = await owner.get(page)
    t.regex(text, new RegExp(`<img class="status-logo" src="${page}/logo\\?v=[0-9a-f]{12}"`))
  })

for (const [what, bytes] of [
  ['SVG with a script', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
  ['SVG behind an XML declaration', Buffer.from('<?xml version="1.0"?><svg onload="alert(1)"/>')],
  ['an HTML page', Buffer.from('<!doctype html><script>alert(1)</script>')],
  ['a RIFF file that is not WebP', Buffer.from('RIFF\x28\0\0\0WAVEfmt ')],
  ['the beginning of a PNG', PNG.subarray(0, 7)],
] as const)
  test.serial(`refuses ${what} as a logo with any declared type`, async (t) => {
    await setUp()
    t.is(await upload(bytes, 'image/png'), 'The logo must be a PNG, JPEG or WebP picture.')
    t.is((await shown()).status, 404)
  })

test.serial('an oversized logo is refused and keeps the previous logo', async (t) => {
  await setUp()
  await upload(PNG)
  const large = Buffer.concat([PNG, Buffer.alloc(MAX_LOGO_BYTES)])
  t.is(await upload(large), 'The logo must be at most 100 kB.')
  t.is(await upload(Buffer.concat([PNG, Buffer.alloc(21 * MAX_LOGO_BYTES)])), '413')
  t.is(await upload(Buffer.alloc(0)), 'No picture was chosen.')
  t.deepEqual(Buffer.from(await (await shown()).arrayBuffer()), PNG)
  t.is(
    await upload(Buffer.concat([PNG, Buffer.alloc(MAX_LOGO_BYTES - PNG.length)])),
    'The logo is shown above the status page.',
  )
})

test.serial('a logo remains when the page changes, and its changes are audited', async (t) => {
  await setUp()
  await upload(PNG)
  await owner.post(`${base}/status-page`, { title: 'Acme II', tags: '', intro: '' }, '/account')
  t.is((await shown()).status, 200)
  await owner.post(`${base}/status-page/logo/remove`, {}, '/account')
  t.is((await shown()).status, 404)
  t.false((await owner.get(page)).text.includes('status-logo'))
  const noted = await app
    .db('audit_log')
    .where({ organisation_id: team.organisationId })
    .whereLike('action', '%.logo-%')
    .orderBy('id')
  t.deepEqual(
    noted.map(({ action }) => action),
    ['status-page.logo-changed', 'status-page.logo-removed'],
  )
})

test.serial('only roles that publish a status page can change its logo', async (t) => {
  await setUp()
  const member = await join(app, team, 'member', `m${team.organisationId}@example.com`)
  t.is(await upload(PNG, 'image/png', member), '403')
  t.is((await shown()).status, 404)
})
