import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { CLIENT_SCOPES, FAMILIES, OFFERED_SCOPES, scopesOf } from '#shared/tenancy/oauth/families.ts'
import { EVENT_TYPES, OFFERED_EVENTS, TEST_EVENT } from '#shared/webhooks/event-types.ts'
import { root, sourcesBelow } from '../../support/imports.ts'

const sources = (rooms: readonly string[]) =>
  rooms.flatMap(sourcesBelow).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

test('tokens and metadata offer only scopes that an operation requires', (t) => {
  const known = new Set(scopesOf(FAMILIES, CLIENT_SCOPES))
  const requested = sources(['ingress']).flatMap(({ text }) =>
    [...text.matchAll(/'([a-z-]+:[a-z]+)'/g)].map((match) => match[1] ?? '').filter((scope) => known.has(scope)),
  )
  t.deepEqual([...OFFERED_SCOPES], [...new Set(requested)].toSorted())
})

test('the offered event types are exactly the emitted ones', (t) => {
  const texts = sources(['ingress', 'workers', 'shared'])
    .filter(({ file }) => !/\/event-(types|families|names)\.ts$/.test(file))
    .map(({ text }) => text)
    .join('\n')
  const named = (type: string) => texts.includes(type === TEST_EVENT ? 'TEST_EVENT' : `'${type}'`)
  const emitted = Object.keys(EVENT_TYPES).filter(named)
  t.deepEqual([...OFFERED_EVENTS].toSorted(), emitted.toSorted())
})
