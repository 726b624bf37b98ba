import { Socket } from 'node:net'
import test from 'ava'
import { createConnectionCap } from '#shared/platform/http/connection-cap.ts'
import { parseTrustedProxies } from '#shared/platform/http/remote-addr.ts'

/** A connection from an address that the loopback does not have. */
function from(remoteAddress: string): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress })
}

test('an IPv6 network of 64 bits is one address to the limit of connections', (t) => {
  const cap = createConnectionCap(2, [])
  t.true(cap.admit(from('2001:db8:1:2::1')))
  t.true(cap.admit(from('2001:db8:1:2:ffff::2')))
  t.false(cap.admit(from('2001:db8:1:2:1:2:3:4')))
  t.true(cap.admit(from('2001:db8:1:3::1')), 'the network beside it')
  t.true(cap.admit(from('::ffff:192.0.2.1')))
  t.true(cap.admit(from('192.0.2.1')), 'the same address, written in either way')
  t.false(cap.admit(from('::ffff:192.0.2.1')))
})

test('a connection that closes makes room, a proxy that is trusted has no limit, and 0 is none', async (t) => {
  const cap = createConnectionCap(1, parseTrustedProxies(['192.0.2.7']))
  const first = from('192.0.2.1')
  t.true(cap.admit(first))
  t.false(cap.admit(from('192.0.2.1')))
  await new Promise((resolve) => first.once('close', resolve).destroy())
  t.true(cap.admit(from('192.0.2.1')))
  for (let n = 0; n < 3; n++) t.true(cap.admit(from('192.0.2.7')))
  const none = createConnectionCap(0, [])
  for (let n = 0; n < 3; n++) t.true(none.admit(from('192.0.2.1')))
})
