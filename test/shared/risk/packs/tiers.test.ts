import test from 'ava'
import { packDocument } from '#shared/risk/packs/pdf/document.ts'
import { lowestTier } from '#shared/risk/packs/pdf/tiers.ts'
import { scenarioGstins } from './demo-pack.ts'
import { pdfInput } from './pdf-input.ts'

test('a card without a grade has the lowest tier of its evidence', (t) => {
  t.is(lowestTier(['REGISTRY_VERIFIED', 'SELF_DECLARED', 'DOCUMENT_SIGNED']), 'SELF_DECLARED')
  t.is(lowestTier(['LENDER_SIDE', 'MISSING']), 'MISSING')
  t.is(lowestTier([]), 'MISSING')
})

test('CLEAR states how many values are missing', async (t) => {
  const meaning = async (changes = {}) => packDocument(await pdfInput(changes)).level
  t.deepEqual(await meaning(), { code: 'CLEAR', meaning: 'no rule for attention, conflict or incompleteness applied' })
  t.deepEqual(await meaning({ subcontractorGstin: scenarioGstins.subcontractorGstin('05') }), {
    code: 'CLEAR',
    meaning: 'no rule for attention, conflict or incompleteness applied; 1 value is missing',
  })
})
