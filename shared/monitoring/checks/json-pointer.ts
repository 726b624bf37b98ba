/** Returns true for a JSON Pointer (RFC 6901) to a member. The empty pointer, which names the whole text, is refused. */
export function isJsonPointer(text: string): boolean {
  return /^(?:\/(?:[^~/]|~[01])*)+$/u.test(text)
}

export type MemberText = { ok: true; text: string } | { ok: false; problem: 'not-json' | 'no-member' }

/** Returns a string member as it is and any other value as compact JSON. Of equal names the last counts. */
export function memberText(json: string, pointer: string): MemberText {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return { ok: false, problem: 'not-json' }
  }
  for (const token of pointer.split('/').slice(1)) {
    value = memberOf(value, token.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (value === undefined) return { ok: false, problem: 'no-member' }
  }
  if (typeof value === 'string') return { ok: true, text: value }
  // Serialising a deep value would exceed the stack.
  return isWithin(value, MAX_DEPTH) ? { ok: true, text: JSON.stringify(value) } : { ok: false, problem: 'not-json' }
}

/** As in request bodies of the management API. */
const MAX_DEPTH = 100

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((member) => isWithin(member, levels - 1))
}

const INDEX = /^(?:0|[1-9]\d*)$/

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return INDEX.test(name) ? value[Number(name)] : undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value
}
