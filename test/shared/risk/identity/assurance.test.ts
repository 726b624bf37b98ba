import { readFileSync } from 'node:fs'
import test from 'ava'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { assuranceOf, type Factor } from '#shared/risk/identity/assurance.ts'
import { anchorObject } from '#shared/transparency/anchoring/leaf.ts'

const { transition } = JSON.parse(readFileSync(new URL('../../../vectors/families.json', import.meta.url), 'utf8'))
const NOW = Date.parse('2026-11-21T12:00:00Z')
const DAY = 86_400_000

const factor = (key: string, days: number, isHigh = false): Factor => ({
  key,
  tier: 'ISSUER_CONFIRMED',
  isHigh,
  observedAt: new Date(NOW),
  expiresAt: new Date(NOW + days * DAY),
})
const levelOf = (...factors: Factor[]) => {
  const { level, factors: counted, expiresAt } = assuranceOf(factors, NOW)
  return [level, counted.map(({ key }) => key).join(' '), expiresAt && (expiresAt.getTime() - NOW) / DAY]
}

test('a transition is anchored as published', (t) => {
  t.is(canonicalize(transition.object), transition.canonical)
  t.deepEqual(anchorObject(transition.object, transition.object).anchor, transition.anchor)
})

test('the level is the first that applies and expires with its earliest factor', (t) => {
  const [high, presented] = [factor('presentation', 90, true), factor('presentation', 60)]
  const [registry, document] = [factor('registry.pan', 30), factor('document', 20)]
  t.deepEqual(levelOf(high, registry, document), ['HIGH', 'presentation registry.pan', 30])
  t.deepEqual(levelOf(high, document), ['SUBSTANTIAL', 'presentation', 90])
  t.deepEqual(levelOf(presented, registry), ['SUBSTANTIAL', 'presentation', 60])
  t.deepEqual(levelOf(registry, document), ['SUBSTANTIAL', 'registry.pan document', 20])
  t.deepEqual(levelOf(registry), ['LOW', 'registry.pan', 30])
  t.deepEqual(levelOf(document), ['LOW', 'document', 20])
  t.deepEqual(levelOf(), ['NONE', '', null])
})

test('only the unexpired factor of a kind with the latest expiry counts', (t) => {
  t.deepEqual(levelOf(factor('presentation', -1, true), factor('registry.pan', 5)), ['LOW', 'registry.pan', 5])
  t.deepEqual(levelOf(factor('presentation', 0)), ['NONE', '', null])
  t.deepEqual(levelOf(factor('registry.pan', 5), factor('registry.ckyc', 9), factor('document', 20)), [
    'SUBSTANTIAL',
    'registry.ckyc document',
    9,
  ])
})
