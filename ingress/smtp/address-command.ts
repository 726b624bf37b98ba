/** An address command taken apart: `MAIL FROM: backup@nas.example SIZE=12`. */
interface AddressCommand {
  /** without its angle brackets and the blanks inside them */
  address: string
  /** ESMTP parameters as they were sent */
  parameters: string
}

/**
 * Reads an address command as common senders write it: with or without angle brackets, with blanks around and inside
 * the address, with quoted local parts.
 * @returns null if the command names no address, not even `<>`
 */
export function readAddressCommand(command: string): AddressCommand | null {
  const colon = command.indexOf(':')
  const rest = command.slice(colon + 1).trim()
  if (colon === -1 || rest === '') return null
  const [, inner, after] = /^<((?:"(?:[^"\\]|\\.)*"|[^">])*)>(.*)$/s.exec(rest) ?? []
  if (inner !== undefined && after !== undefined) return { address: inner.trim(), parameters: after.trim() }
  const words = rest.split(/\s+/)
  // Parameters come last: a keyword, or a keyword with a value.
  const first = words.findIndex((word, index) => index > 0 && /^(?:[a-z0-9-]+=\S*|SMTPUTF8|REQUIRETLS)$/i.test(word))
  const addressText = first === -1 ? words : words.slice(0, first)
  const parameters = first === -1 ? [] : words.slice(first)
  return { address: addressText.join(' ').replace(/^<|>$/g, '').trim(), parameters: parameters.join(' ') }
}
