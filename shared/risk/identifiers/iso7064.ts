const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** The check character of ISO 7064 MOD 37,36 over 0-9 and A-Z, which catches every single change. */
export function mod3736CheckCharacter(text: string): string {
  let product = 36
  for (const character of text) {
    const sum = (product + ALPHABET.indexOf(character)) % 36 || 36
    product = (sum * 2) % 37
  }
  return ALPHABET.charAt((37 - product) % 36)
}
