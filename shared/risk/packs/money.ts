/** Indian money as whole paise. Safe integers: the largest amount accepted anywhere is 1e13 rupees, 1e15 paise. */
export type Paise = number

/**
 * A decimal of rupees as whole paise, without passing through a fraction.
 * @param amount a JSON number or a decimal string such as `-1200.50`
 * @returns `undefined` when it is no plain decimal, has more than two decimals, or exceeds what a double holds exactly
 */
export function parsePaise(amount: number | string): Paise | undefined {
  const match = /^(-?)([0-9]{1,15})(?:\.([0-9]{1,2})0*)?$/.exec(String(amount))
  if (!match) return undefined
  const [, sign = '', rupees = '', decimals = ''] = match
  const paise = Number(rupees) * 100 + Number(decimals.padEnd(2, '0'))
  if (!Number.isSafeInteger(paise)) return undefined
  return sign === '-' && paise !== 0 ? -paise : paise
}

/** Rupees with at most two decimals, as the contract shows amounts. The division is correctly rounded. */
export function toInr(paise: Paise): number {
  return paise / 100
}

/** The exact quotient of two integers rounded half to even. The denominator must be positive. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const floor = numerator >= 0n ? numerator / denominator : -((-numerator + denominator - 1n) / denominator)
  const twice = 2n * (numerator - floor * denominator)
  const up = twice > denominator || (twice === denominator && floor % 2n !== 0n)
  return up ? floor + 1n : floor
}

/** An amount in words that people read: lakh and crore with two decimals, else rupees with Indian grouping. */
export function inrText(paise: Paise): string {
  const sign = paise < 0 ? '-' : ''
  const size = Math.abs(paise)
  if (size >= 1_000_000_000) return `${sign}₹${scaled(size, 1_000_000_000n)} crore`
  if (size >= 10_000_000) return `${sign}₹${scaled(size, 10_000_000n)} lakh`
  return `${sign}₹${grouped(Math.floor(size / 100))}.${String(size % 100).padStart(2, '0')}`
}

function scaled(paise: Paise, unit: bigint): string {
  const hundredths = divideHalfEven(BigInt(paise) * 100n, unit)
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
}

function grouped(rupees: number): string {
  return String(rupees).replace(/(?<=[0-9])(?=(?:[0-9]{2})*[0-9]{3}$)/g, ',')
}
