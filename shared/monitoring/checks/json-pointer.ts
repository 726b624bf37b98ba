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
  return { ok: true, text: typeof value === 'string' ? value : JSON.stringify(value) }
}

const INDEX = /^(?:0|[1-9]\d*)$/

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return INDEX.test(name) ? value[Number(name)] : undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value
}
