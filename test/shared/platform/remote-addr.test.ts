import test from 'ava'
import {
  addressBucket,
  normalizeAddress,
  parseTrustedProxies,
  resolveClient,
} from '#shared/platform/http/remote-addr.ts'

for (const [text, address] of [
  ['1.2.3.4', '1.2.3.4'],
  [' 1.2.3.4 ', '1.2.3.4'],
  ['1.1.1.1:1234', '1.1.1.1'],
  ['2001:0db8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:DB8:0:1:0:0:0:1', '2001:db8:0:1::1'],
  ['::ffff:0102:0304', '::ffff:1.2.3.4'],
  ['::ffff:1.2.3.4', '::ffff:1.2.3.4'],
  ['fe80::1%eth0', 'fe80::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['', null],
  ['unknown', null],
  ['1.2.3', null],
  ['0x7f.0.0.1', null],
  ['1.2.3.256', null],
  ['1.2.3.4.5:80', null],
  ['[', null],
  ["'; drop table", null],
] as const) {
  test(`the address ${JSON.stringify(text)} is stored as ${address}`, (t) => {
    t.is(normalizeAddress(text), address)
  })
}

for (const [text, bucket] of [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:4711', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['::1', '::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['', 'unknown'],
  ['nonsense', 'unknown'],
  [null, 'unknown'],
  [undefined, 'unknown'],
] as const) {
  test(`${JSON.stringify(text)} is limited as ${bucket}`, (t) => {
    t.is(addressBucket(text), bucket)
  })
}

const trusted = parseTrustedProxies(['127.0.0.0/8', '::1', '10.0.0.0/8', 'fd00::/8'])
const silent = { forwardedFor: undefined, forwarded: undefined, forwardedProto: undefined }

for (const [title, origin, remoteAddr] of [
  ['a direct client', { peer: '203.0.113.7' }, '203.0.113.7'],
  ['a direct client on a dual-stack socket', { peer: '::ffff:203.0.113.7' }, '203.0.113.7'],
  ['a stranger who forges the header', { peer: '203.0.113.7', forwardedFor: '1.1.1.1' }, '203.0.113.7'],
  ['a client of a trusted proxy', { peer: '127.0.0.1', forwardedFor: '198.51.100.1' }, '198.51.100.1'],
  ['a client who forges behind a proxy', { peer: '10.0.0.2', forwardedFor: '1.1.1.1, 198.51.100.1' }, '198.51.100.1'],
  ['a chain of proxies', { peer: '10.0.0.2', forwardedFor: '1.1.1.1, 198.51.100.1, 10.0.0.3' }, '198.51.100.1'],
  ['only proxies', { peer: '::ffff:127.0.0.1', forwardedFor: '10.0.0.4, 10.0.0.3' }, '10.0.0.4'],
  ['an empty header', { peer: '127.0.0.1', forwardedFor: '' }, null],
  ['a broken header', { peer: '127.0.0.1', forwardedFor: '1.1.1.1, unknown' }, null],
  ['a trusted proxy itself', { peer: '127.0.0.1' }, '127.0.0.1'],
  ['a proxy over IPv6', { peer: 'fd00::1', forwardedFor: '2001:db8:0::9' }, '2001:db8::9'],
  [
    'the standard header',
    { peer: '127.0.0.1', forwarded: 'for=1.1.1.1, proto=https;For="[2001:db8::9]:80"' },
    '2001:db8::9',
  ],
  ['a standard header without an address', { peer: '127.0.0.1', forwarded: 'proto=https' }, null],
  ['a socket that is gone', { peer: undefined }, null],
] as const) {
  test(`the address of ${title}`, (t) => {
    t.is(resolveClient({ ...silent, ...origin }, trusted).remoteAddr, remoteAddr)
  })
}

test('the scheme is believed from a trusted proxy only, and cut to 10 characters', (t) => {
  const scheme = (peer: string, forwardedProto: string) =>
    resolveClient({ ...silent, peer, forwardedProto }, trusted).scheme
  t.is(scheme('127.0.0.1', 'https'), 'https')
  t.is(scheme('127.0.0.1', 'abcdefghijkl'), 'abcdefghij')
  t.is(scheme('127.0.0.1', ''), 'http')
  t.is(scheme('203.0.113.7', 'https'), 'http')
})

test('a setting that is no network is refused by name', (t) => {
  t.throws(() => parseTrustedProxies(['127.0.0.1', 'localhost']), { message: /"localhost"/ })
})
