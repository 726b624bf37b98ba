import { readFileSync } from 'node:fs'
import test from 'ava'
import { holdsAadhaar } from '#shared/risk/identifiers/aadhaar.ts'
import { mod3736CheckCharacter, validateLei } from '#shared/risk/identifiers/lei.ts'
import { veiError, veiOf } from '#shared/risk/identifiers/vei.ts'

const vectors = JSON.parse(readFileSync(new URL('../../../vectors/families.json', import.meta.url), 'utf8'))
const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index))

for (const [identifier, vei] of vectors.vei)
  test(`the entity identifier of ${identifier} equals the one of the vector`, (t) => {
    t.is(veiOf(key, identifier), vei)
    t.is(veiError(vei), null)
  })

test('the check character detects every single change of an entity identifier', (t) => {
  t.is(mod3736CheckCharacter('A12425GABC1234002'), vectors.mod3736known)
  const [[, vei]] = vectors.vei
  let tried = 0
  for (let at = 0; at < vei.length; at++) {
    for (const other of '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
      if (other === vei[at]) continue
      tried += 1
      t.not(veiError(vei.slice(0, at) + other + vei.slice(at + 1)), null)
    }
  }
  t.is(tried, vectors.mod3736.tried)
  t.is(veiError(vei.slice(1)), 'LENGTH')
  t.is(veiError(` ${vei.toLowerCase()} `), null, 'written in lower case')
})

test('no entity identifier looks like a PAN', (t) => {
  // About a dozen of three million identifiers are changed for this; a smaller sample shows the shape.
  for (let n = 0; n < 3_000; n++) t.notRegex(veiOf(key, `AAAC${n}`), /[A-Z]{5}[0-9]{4}[A-Z]/)
})

test('an LEI with a wrong check digit is invalid', (t) => {
  t.is(validateLei(vectors.lei.lei).valid, vectors.lei.valid)
  t.like(validateLei('9999SGNLBXDEMO000119'), { valid: false, reason: 'CHECK_DIGITS' })
})

for (const [text, expected] of [
  ['999941057058', true],
  ['no. 9999 4105 7058 of the holder', true],
  ['9999-4105-7058', true],
  ['９９９９４１０５７０５８', true],
  ['999941057059', false],
  ['099941057058', false],
  ['1999941057058', false],
  ['99994105705', false],
  ['999941057058 12', true],
  ['flat 12, 560001 9999 4105 7058 9', true],
  ['12-9999-4105-7058-560001', true],
  ['9999\u20114105\u20117058', true],
  ['9999\u22124105 – 7058', true],
  ['9999.4105·7058', true],
  ['९९९९ ४१०५ ७०५८', true],
  ['٩٩٩٩٤١٠٥٧٠٥٨', true],
  ['𝟗𝟗𝟗𝟗𝟒𝟏𝟎𝟓𝟕𝟎𝟓𝟖', true],
  ['9999a4105 7058', false],
  ['19999 4105 7058', false],
  ['9999410570581', false],
  ['९९९९ ४१०५ ७०५९', false],
] as const)
  test(`${JSON.stringify(text)} ${expected ? 'contains' : 'does not contain'} an Aadhaar number`, (t) => {
    t.is(holdsAadhaar(text), expected)
  })
