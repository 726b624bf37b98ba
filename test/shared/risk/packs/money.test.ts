import test from 'ava'
import { divideHalfEven, inrText, parsePaise, toInr } from '#shared/risk/packs/money.ts'

for (const [amount, paise] of [
  [18250000.5, 1_825_000_050],
  [0.1 + 0.2, undefined],
  [1.15, 115],
  [4.35, 435],
  ['1200.50', 120_050],
  ['-1200.5', -120_050],
  ['7.100', 710],
  ['007', 700],
  [1e13, 1_000_000_000_000_000],
  [9_999_999_999_999.99, 999_999_999_999_999],
  [-0, 0],
  ['-0.00', 0],
  [1.005, undefined],
  [1e21, undefined],
  [1e-7, undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
  ['', undefined],
  ['1,200', undefined],
  [' 1', undefined],
  ['1.', undefined],
  ['.5', undefined],
  ['+1', undefined],
  ['0x10', undefined],
  ['\u0661', undefined],
  ['90071992547410.00', undefined],
] as const) {
  test(`${typeof amount} ${amount || JSON.stringify(amount)} is ${paise} paise`, (t) => t.is(parsePaise(amount), paise))
}

test('every amount of two decimals survives a round trip', (t) => {
  for (let paise = 0; paise < 20_000; paise += 7) t.is(parsePaise(toInr(paise)), paise)
  t.is(parsePaise(toInr(999_999_999_999_999)), 999_999_999_999_999)
})

for (const [numerator, denominator, quotient] of [
  [5n, 2n, 2n],
  [7n, 2n, 4n],
  [-5n, 2n, -2n],
  [-7n, 2n, -4n],
  [8n, 3n, 3n],
  [-8n, 3n, -3n],
  [0n, 9n, 0n],
] as const) {
  test(`${numerator}/${denominator} rounds half to even to ${quotient}`, (t) =>
    t.is(divideHalfEven(numerator, denominator), quotient))
}

for (const [paise, text] of [
  [1_825_000_050, '₹1.83 crore'],
  [50_000_000, '₹5.00 lakh'],
  [9_999_950, '₹99,999.50'],
  [12_300, '₹123.00'],
  [-5_000_000, '-₹50,000.00'],
] as const) {
  test(`${paise} paise are formatted as ${text}`, (t) => t.is(inrText(paise), text))
}
