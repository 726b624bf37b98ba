import { readFileSync } from 'node:fs'
import test from 'ava'
import {
  deflateList,
  inflateList,
  isStatusAddress,
  readStatusToken,
  statusAt,
} from '#shared/risk/credentials/status-list.ts'
import { generateSigningKey, signJwt } from '#shared/risk/domain-keys/signing-key.ts'

const { statusList: vector } = JSON.parse(
  readFileSync(new URL('../../../vectors/families.json', import.meta.url), 'utf8'),
)

test('one-bit statuses are read least significant bit first', async (t) => {
  const list = await inflateList({ bits: 1, lst: vector.lst })
  t.is(list?.bytes.toString('hex'), vector.bytes)
  const read = Array.from({ length: 16 }, (_, idx) => list && statusAt(list, idx))
  t.deepEqual(
    read.map((status) => (status === 'REVOKED' ? '1' : '0')),
    [...vector.bits],
  )
  t.deepEqual([read[0], read[1]], ['REVOKED', 'VALID'])
  const ones = new Map([...(vector.bits as string)].flatMap((bit, idx) => (bit === '1' ? [[idx, 1] as const] : [])))
  t.deepEqual((await inflateList({ bits: 1, lst: await deflateList(16, 1, ones) }))?.bytes, list?.bytes)
})

test('statuses of 2, 4 and 8 bits are read; unknown ones are UNAVAILABLE', async (t) => {
  for (const bits of [2, 4, 8] as const) {
    const lst = await deflateList(
      16,
      bits,
      new Map([
        [1, 1],
        [2, 2],
        [3, 3],
        [7, 2],
      ]),
    )
    const list = await inflateList({ bits, lst })
    const read = [0, 1, 2, 3, 6, 7, 16].map((idx) => list && statusAt(list, idx))
    const expected = ['VALID', 'REVOKED', 'SUSPENDED', 'UNAVAILABLE', 'VALID', 'SUSPENDED', 'UNAVAILABLE']
    t.deepEqual(read, expected, `${bits} bits`)
  }
})

test('a status list is valid until its expiry, ttl, or twelve hours', async (t) => {
  const key = await generateSigningKey()
  const now = 1_795_256_130
  const sub = 'https://issuer.example/list'
  const read = async (claims: object, typ = 'statuslist+jwt') => {
    const payload = { sub, iat: now - 5, status_list: { bits: 1, lst: vector.lst }, ...claims }
    return readStatusToken(await signJwt(payload, { typ }, key.privateJwk), sub, now)?.until
  }
  t.is(await read({}), now + 12 * 3_600)
  t.is(await read({ exp: now + 100, ttl: 3_600 }), now + 100)
  t.is(await read({ exp: now + 10_000, ttl: 600 }), now - 5 + 600)
  t.is(await read({ exp: now + 1e6, ttl: 1e6 }), now + 12 * 3_600)
  for (const wrong of [
    { exp: now },
    { iat: now + 61 },
    { iat: undefined },
    { sub: 'https://x' },
    { status_list: { bits: 3, lst: 'x' } },
  ])
    t.is(await read(wrong), undefined, JSON.stringify(wrong))
  t.is(await read({}, 'JWT'), undefined)
})

test('a status list must come over https from a host of its issuer', (t) => {
  const at = (uri: string) => isStatusAddress(uri, ['issuer.example', 'issuer.example:8443'])
  t.true(at('https://issuer.example/1'))
  t.true(at('https://issuer.example:8443/1'))
  for (const uri of [
    'http://issuer.example/1',
    'https://issuer.example:9/1',
    'https://a.issuer.example/',
    'https://u@issuer.example/',
    'x',
  ])
    t.false(at(uri), uri)
})
