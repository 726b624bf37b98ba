import test from 'ava'
import { IssuerBody } from '#shared/risk/identity/issuer-requests.ts'
import { issuerFaults } from '#shared/risk/operations/issuers.ts'

/** Spellings of loopback, link-local and private hosts. */
const PRIVATE = `localhost localhost. a.localhost printer.local db.internal intranet 127.0.0.1 127.1 0x7f.1 2130706433
  017700000001 0.0.0.0 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 [::1] [::] [::ffff:127.0.0.1]
  [::ffff:7f00:1] [::127.0.0.1] [fe80::1] [fc00::1] [64:ff9b::7f00:1] 127.0.0.1. 127。0。0。1 ⑫7.0.0.1`.split(/\s+/)

const tenant = { organisationId: 1, allowPrivate: false } as const

test('an issuer with a private address or host is refused in every spelling', (t) => {
  const issuer = {
    iss: 'https://issuer.example',
    statusHosts: ['status.example:8443'],
    assurance: 'SUBSTANTIAL' as const,
  }
  t.deepEqual(issuerFaults(issuer, tenant), [])
  for (const host of PRIVATE) {
    const [fault] = issuerFaults({ ...issuer, iss: `https://${host}/` }, tenant)
    t.like(fault, { path: 'iss', code: 'PRIVATE_ADDRESS', message: 'iss leads to a private address' }, host)
    const [second] = issuerFaults({ ...issuer, statusHosts: ['status.example', host] }, tenant)
    t.is(second?.path, 'statusHosts[1]', host)
    t.deepEqual(issuerFaults({ ...issuer, iss: `https://${host}/` }, { ...tenant, allowPrivate: true }), [], host)
  }
  t.is(issuerFaults({ ...issuer, iss: 'https://u:p@issuer.example' }, tenant)[0]?.code, 'CREDENTIALS')
})

test('only the operator may state assurance HIGH for an issuer', (t) => {
  const body = { iss: 'https://issuer.example', vctValues: ['x'], issuerMetadata: true, assurance: 'HIGH' }
  const issuer = IssuerBody.parse(body)
  t.like(issuerFaults(issuer, tenant)[0], { path: 'assurance', code: 'NOT_PERMITTED' })
  t.deepEqual(issuerFaults(issuer, { ...tenant, organisationId: null }), [])
})
