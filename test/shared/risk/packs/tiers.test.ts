import test from 'ava'
import { lowestTier } from '#shared/risk/packs/pdf/tiers.ts'

test('a card without a grade has the lowest tier of its evidence', (t) => {
  t.is(lowestTier(['REGISTRY_VERIFIED', 'SELF_DECLARED', 'DOCUMENT_SIGNED']), 'SELF_DECLARED')
  t.is(lowestTier(['LENDER_SIDE', 'MISSING']), 'MISSING')
  t.is(lowestTier([]), 'MISSING')
})
