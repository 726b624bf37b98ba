import test from 'ava'
import { qrMatrix } from '#shared/risk/packs/pdf/draw-qr.ts'
import { send } from '../../support/send.ts'
import { answerOf, post, resolveRequest } from '../../support/test-wallet.ts'
import {
  client,
  company,
  iss,
  newCredential,
  product,
  requestPresentation,
  start,
  stop,
  submitPresentation,
} from '../api-risk/presentation-support.ts'

test.before(start)
test.after.always(stop)

const pathOf = (requested: { json: { pageUrl: string } }) => new URL(requested.json.pageUrl).pathname
const open = async (requested: { json: { pageUrl: string } }) => await send(product.url, pathOf(requested))

test.serial('a request has a QR code and shows progress without values', async (t) => {
  const requested = await requestPresentation(client, { purpose: 'onboarding <b>' })
  t.true(requested.json.pageUrl.startsWith(`${product.url}/present/`))
  const first = await open(requested)
  t.is(first.status, 200, first.text)
  t.is(first.headers['x-robots-tag'], 'noindex, nofollow')
  const link = requested.json.authorizationRequest
  const { runs } = qrMatrix(link)
  const [run] = runs
  t.true(first.text.includes(`href="${link.replaceAll('&', '&amp;')}"`))
  t.true(first.text.includes(`M${(run?.x ?? 0) + 2} ${(run?.y ?? 0) + 2}h${run?.length}v1`), 'drawn on the server')
  t.is(first.text.match(/M\d+ \d+h\d+v1h-\d+z/g)?.length, runs.length)
  for (const part of ['data-poll="2000"', 'onboarding &lt;b>', 'legal name, GSTIN', 'Reload', 'Sandbox'])
    t.true(first.text.includes(part), part)
  t.false(first.text.includes('A wallet has read the request'))
  await resolveRequest(link)
  t.true((await open(requested)).text.includes('A wallet has read the request'))
  t.is((await submitPresentation(requested)).status, 200)
  const last = await open(requested)
  for (const part of ['<h1>VERIFIED</h1>', iss, 'legal name, GSTIN']) t.true(last.text.includes(part), part)
  for (const value of Object.values(company)) t.false(last.text.includes(value), value)
  t.false(last.text.includes('data-poll'), 'a final page does not poll')
  t.false(last.text.includes('openid4vp:'))
})

test.serial('a refused response shows the remaining attempts, three end the request', async (t) => {
  const requested = await requestPresentation(client)
  const expired = await newCredential({ exp: Math.floor(Date.now() / 1000) - 3_600 })
  for (const left of [2, 1]) {
    t.is((await submitPresentation(requested, { credential: expired })).status, 400)
    const { text } = await open(requested)
    for (const part of ['The credential has expired.', 'CREDENTIAL_EXPIRED', `Attempts left: ${left}`, 'openid4vp:'])
      t.true(text.includes(part), part)
  }
  await submitPresentation(requested, { credential: expired })
  const { text } = await open(requested)
  for (const part of ['<h1>Refused</h1>', 'CREDENTIAL_EXPIRED', 'This request has ended'])
    t.true(text.includes(part), part)
  t.false(text.includes('openid4vp:'))
})

test.serial('a declined and an expired request are explained', async (t) => {
  const declined = await requestPresentation(client)
  const request = await resolveRequest(declined.json.authorizationRequest)
  const form = new URLSearchParams({ state: request.state, error: 'access_denied', error_description: 'Asha' })
  t.is((await post(request.responseUri, form)).status, 200)
  const page = (await open(declined)).text
  for (const part of ['<h1>Refused</h1>', 'The wallet declined.']) t.true(page.includes(part), part)
  t.false(page.includes('Asha'))

  const late = await requestPresentation(client)
  const { presentationId } = late.json
  await product
    .db('presentations')
    .where({ id: presentationId })
    .update({ expires_at: new Date(Date.now() - 1) })
  const over = (await open(late)).text
  for (const part of ['<h1>Expired</h1>', 'in time']) t.true(over.includes(part), part)
  t.false(over.includes('data-poll'))
})

test.serial('the page shows that a response is being verified', async (t) => {
  const requested = await requestPresentation(client)
  await product
    .db('presentations')
    .where({ id: requested.json.presentationId })
    .update({ state: 'RECEIVED', sealed_form: 'sealed' })
  const { text } = await open(requested)
  t.true(text.includes('<h1>Being verified</h1>'))
  t.true(text.includes('data-poll="2000"'))
})

test.serial('the content of a QR code does not open a page', async (t) => {
  const requested = await requestPresentation(client)
  const handle = requested.json.requestUri.split('/').at(-1)
  const page = requested.json.pageUrl.split('/').at(-1)
  t.regex(handle, /^[\w-]{43}$/)
  t.is((await send(product.url, `/present/${handle}`)).status, 404)
  t.is((await send(product.url, `/present/${page.slice(0, -4)}AAAA`)).status, 404)
  t.is((await send(product.url, '/present/x')).status, 404)
  t.is((await send(product.url, `/v1/oid4vp/requests/${page}`)).status, 404)
  const { form } = await answerOf(await resolveRequest(requested.json.authorizationRequest), { company: ['x'] })
  t.is((await post(requested.json.requestUri.replace('requests', 'responses').replace(handle, page), form)).status, 404)
})
