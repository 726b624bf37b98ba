import { readFileSync } from 'node:fs'
import test from 'ava'
import { nameSimilarity } from '#shared/risk/businesses/entity.ts'
import { commitmentOf } from '#shared/risk/evidence/commitment.ts'

const vectors = JSON.parse(readFileSync(new URL('../../../vectors/families.json', import.meta.url), 'utf8'))

for (const [one, other, permille] of vectors.names)
  test(`${JSON.stringify(one)} and ${JSON.stringify(other)} have a similarity of ${permille}`, (t) => {
    t.is(nameSimilarity(one, other), permille)
    t.is(nameSimilarity(other, one), permille)
  })

test('the commitment equals the one of the vector', (t) => {
  const { commitment, ...committed } = vectors.commitment
  t.is(commitmentOf(committed), commitment)
})
