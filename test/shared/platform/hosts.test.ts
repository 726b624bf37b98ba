import test from 'ava'
import { createDatabaseHosts, splitHosts } from '#shared/platform/database/hosts.ts'

const PAIR = 'postgres://app:p%40ss@one:5432,two:5433/signalbox?target_session_attrs=read-write&sslmode=disable'
const ONE = 'postgres://app:p%40ss@one:5432/signalbox?sslmode=disable'
const TWO = 'postgres://app:p%40ss@two:5433/signalbox?sslmode=disable'

test('the hosts of an address are read as libpq writes them', (t) => {
  t.deepEqual(splitHosts(PAIR), [ONE, TWO])
  t.deepEqual(splitHosts('postgres://one,two/x?target_session_attrs=any'), ['postgres://one/x', 'postgres://two/x'])
  t.deepEqual(splitHosts('postgresql://a@b@one/x'), ['postgresql://a@b@one/x'])
  for (const single of ['postgres:///x?host=/run/postgresql', 'postgres://u@[::1]:5432/x']) {
    t.deepEqual(splitHosts(single), [single])
  }
})

function hostsWith(roles: Map<string, 'primary' | 'standby' | null>) {
  const requested: string[] = []
  const hosts = createDatabaseHosts(PAIR, async (address) => {
    requested.push(address)
    return roles.get(address) ?? null
  })
  return { hosts, requested }
}

test('connections go to the primary, which is looked up once, and again when it is in doubt', async (t) => {
  const roles = new Map<string, 'primary' | 'standby' | null>([
    [ONE, 'standby'],
    [TWO, 'primary'],
  ])
  const { hosts, requested } = hostsWith(roles)
  t.deepEqual(await Promise.all([hosts.address(), hosts.address()]), [TWO, TWO])
  t.is(await hosts.address(), TWO)
  t.is(requested.length, 2, 'each server once')
  roles.set(ONE, 'primary').set(TWO, null)
  hosts.doubt()
  t.is(await hosts.address(), ONE)
})

test('without a primary any answering host serves reads, and is checked each time', async (t) => {
  const roles = new Map<string, 'primary' | 'standby' | null>([[TWO, 'standby']])
  const { hosts } = hostsWith(roles)
  t.is(await hosts.address(), TWO)
  roles.set(TWO, 'primary')
  t.is(await hosts.address(), TWO)
  roles.clear()
  hosts.doubt()
  t.deepEqual([await hosts.address(), await hosts.address()].sort(), [ONE, TWO], 'alternately')
})

test('a single server is never checked for its role', async (t) => {
  const hosts = createDatabaseHosts(ONE, () => Promise.reject(new Error('queried')))
  t.is(await hosts.address(), ONE)
  hosts.doubt()
  t.is(await hosts.address(), ONE)
})
