import test from 'ava'
import { type Actor, auditedActor } from '#shared/tenancy/actor.ts'

const address = '192.0.2.7'

for (const [actor, expected] of [
  [
    { kind: 'key', id: 4, label: 'CI', owner: 'shop', address },
    { userId: null, actor: 'API key 4 (CI) of shop', address },
  ],
  [
    { kind: 'client', id: 'C3', owner: 'lender', address },
    { userId: null, actor: 'API client C3 of lender', address },
  ],
  [
    { kind: 'person', userId: 9, email: 'a@example.org', address },
    { userId: 9, actor: 'a@example.org', address },
  ],
  [
    { kind: 'agent', id: 'K7', name: 'helper', address },
    { userId: null, actor: 'agent key K7 (helper)', address },
  ],
  [
    { kind: 'operator', name: 'root' },
    { userId: null, actor: 'operator root', address: '' },
  ],
] satisfies [Actor, object][])
  test(`the audit log has the name of an actor of kind ${actor.kind}`, (t) => {
    t.deepEqual(auditedActor(actor), expected)
  })
