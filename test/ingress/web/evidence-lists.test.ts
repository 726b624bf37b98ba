import test from 'ava'
import { clientWith, openClient } from '../../support/platform-client.ts'
import { sharedProduct } from '../../support/shared-product.ts'

test('the pages and the API list the same evidence', async (t) => {
  const app = await sharedProduct({ workers: ['kyb-verifier', 'acceptance-recorder'] })
  const client = await openClient(app, app.url)
  const verified = await client.post('/v1/kyb/verifications', { gstin: '29AAACR5678D1Z5' })
  const { entities } = (await client.get('/v1/kyb/entities')).json
  t.deepEqual(
    entities.map(({ vei }: { vei: string }) => vei),
    [verified.json.vei],
  )
  const refs = ['A-1', 'A-2', 'A-3']
  for (const receivableRef of refs) {
    await client.post('/v1/acceptance/records', {
      receivableRef,
      channel: 'IMS',
      action: 'PENDING',
      at: '2026-06-20T18:30:00Z',
    })
  }
  const first = (await client.get('/v1/acceptance/records?limit=2')).json
  const rest = (await client.get(`/v1/acceptance/records?limit=2&cursor=${first.nextCursor}`)).json
  const listed = [...first.records, ...rest.records].map(
    ({ receivableRef }: { receivableRef: string }) => receivableRef,
  )
  t.deepEqual(listed, refs.toReversed())
  t.is(rest.nextCursor, null)
  const other = clientWith(app.url, (await openClient(app, app.url)).token, client.credentials)
  t.deepEqual((await other.get('/v1/kyb/entities')).json.entities, [])
})
