/** Accepts the shortest digits of a double, so that our own output (`1e+30`) can be read again. */
export function isChangedInteger(literal: string, value: number): boolean {
  const written = integerOf(literal)
  if (written === null) return false
  const shortest = integerOf(String(value))
  if (written.digits === shortest?.digits && written.zeros === shortest.zeros) return false
  return BigInt(written.digits + '0'.repeat(written.zeros)) !== BigInt(Math.abs(value))
}

/** Returns null for a fraction and for zero. */
function integerOf(literal: string): { digits: string; zeros: number } | null {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const all = (whole + fraction).replace(/^0+/, '')
  let length = all.length
  while (length > 0 && all[length - 1] === '0') length -= 1
  const zeros = Number(exponent) - fraction.length + (all.length - length)
  return length === 0 || zeros < 0 ? null : { digits: all.slice(0, length), zeros }
}
