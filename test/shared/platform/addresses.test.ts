import test from 'ava'
import { brokerAddresses, connectMs } from '#shared/platform/broker/addresses.ts'

const CLUSTER = 'amqp://one:5671/jobs,amqp://two/jobs , amqp://[::1]:5673/jobs'

test('a process starts at any node of a cluster and continues with the next', (t) => {
  for (const [random, order] of [
    [0, ['one:5671', 'two:5672', '::1:5673', 'one:5671']],
    [0.5, ['two:5672', '::1:5673', 'one:5671', 'two:5672']],
    [0.99, ['::1:5673', 'one:5671', 'two:5672', '::1:5673']],
  ] as const) {
    const addresses = brokerAddresses(CLUSTER, () => random)
    const met = order.map(() => {
      const node = `${addresses.target.hostname}:${addresses.target.port}`
      t.is(addresses.current(), node)
      addresses.next()
      return node
    })
    t.deepEqual(met, [...order])
    t.is(addresses.count, 3)
  }
})

test('an address is read as the driver reads a URL', (t) => {
  const { target } = brokerAddresses('amqps://a%40b:p%2Fq@broker/%2Fdeep?heartbeat=7&frameMax=8192')
  t.is(target.protocol, 'amqps')
  t.is(target.hostname, 'broker')
  t.is(target.port, 5671)
  t.is(target.username, 'a@b')
  t.is(target.password, 'p/q')
  t.is(target.vhost, '%2Fdeep', 'which the driver decodes')
  t.is(target.heartbeat, 7)
  t.is(target.frameMax, 8192)
  t.like({ ...brokerAddresses('amqp://broker').target }, { username: 'guest', password: 'guest', vhost: '' })
})

test('one node of several has a shorter timeout than a single node', (t) => {
  const [several, one] = [brokerAddresses(CLUSTER), brokerAddresses('amqp://one')]
  t.true(connectMs(several) < connectMs(one))
  t.true(Number(several.target.heartbeat) < Number(one.target.heartbeat))
})
