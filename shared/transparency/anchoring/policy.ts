import { AnchoringError } from './anchoring-error.ts'
import { formatVerifierKey, LOG_KEY, type NoteKey, parseVerifierKey, WITNESS_KEY } from './note-key.ts'
import { equalBytes } from './text.ts'

type Quorum =
  | { readonly witness: string; readonly key: NoteKey; readonly url?: string }
  | { readonly group: string; readonly threshold: number; readonly members: readonly Quorum[] }

/** C2SP tlog-policy */
export interface TrustPolicy {
  readonly logs: readonly { readonly key: NoteKey; readonly url?: string }[]
  readonly witnesses: readonly { readonly name: string; readonly key: NoteKey; readonly url?: string }[]
  /** undefined means `quorum none`. */
  readonly quorum: Quorum | undefined
}

const MAX_LINES = 512
const THRESHOLD = /^[1-9][0-9]{0,2}$/
const FORBIDDEN = /[^\t\n\u0020-\u007e\u0080-\u{10ffff}]/u

export function policyKeys(policy: TrustPolicy): NoteKey[] {
  return [...policy.logs, ...policy.witnesses].map(({ key }) => key)
}

export function isQuorumReached(policy: TrustPolicy, cosigners: readonly NoteKey[]): boolean {
  const isReached = (quorum: Quorum): boolean =>
    'witness' in quorum
      ? cosigners.some((key) => equalBytes(key.publicKey, quorum.key.publicKey) && key.name === quorum.key.name)
      : quorum.members.filter(isReached).length >= quorum.threshold
  return policy.quorum === undefined || isReached(policy.quorum)
}

/** Creates a policy whose quorum is any `threshold` of the witnesses; 0 requires none. */
export function flatPolicy(
  logs: readonly { key: NoteKey; url?: string }[],
  witnesses: readonly { key: NoteKey; url?: string }[],
  threshold: number,
): TrustPolicy {
  const members = witnesses.map((witness) => ({ witness: witness.key.name, ...witness }))
  if (!Number.isInteger(threshold) || threshold < 0 || threshold > members.length)
    throw new AnchoringError(
      'POLICY_MALFORMED',
      `the quorum ${threshold} must be between 0 and ${members.length} witnesses`,
    )
  return {
    logs,
    witnesses: witnesses.map((witness) => ({ name: witness.key.name, ...witness })),
    quorum: threshold === 0 ? undefined : { group: 'witnesses', threshold, members },
  }
}

export function formatPolicy({ logs, witnesses, quorum }: TrustPolicy): string {
  const line = (...words: (string | undefined)[]): string => `${words.filter((word) => word !== undefined).join(' ')}\n`
  let text = logs.map(({ key, url }) => line('log', formatVerifierKey(key), url)).join('')
  for (const { name, key, url } of witnesses) text += line('witness', name, formatVerifierKey(key), url)
  const define = (part: Quorum): string => {
    if ('witness' in part) return part.witness
    const names = part.members.map(define)
    text += line('group', part.group, String(part.threshold), ...names)
    return part.group
  }
  const name = quorum === undefined ? 'none' : define(quorum)
  return text + line('quorum', name)
}

/** @throws AnchoringError POLICY_MALFORMED naming the line; KEY_MALFORMED */
export function parsePolicy(text: string): TrustPolicy {
  const lines = text.split('\n')
  if (lines.length > MAX_LINES || text.length > 262_144 || FORBIDDEN.test(text))
    throw new AnchoringError('POLICY_MALFORMED', 'the policy is too large or has control characters')
  const logs: { key: NoteKey; url?: string }[] = []
  const witnesses: { name: string; key: NoteKey; url?: string }[] = []
  const defined = new Map<string, Quorum>()
  const used = new Set<string>()
  let quorum: Quorum | undefined | null = null

  const define = (name: string, part: Quorum, at: number): void => {
    if (name === 'none' || defined.has(name)) throw malformed(at, 'the name is used twice')
    defined.set(name, part)
  }
  const keyOf = (word: string, known: readonly { key: NoteKey }[], type: number, at: number): NoteKey => {
    const key = parseVerifierKey(word)
    if (key.type !== type) throw malformed(at, 'a key of the wrong type')
    if (known.some((other) => equalBytes(other.key.publicKey, key.publicKey)))
      throw malformed(at, 'the key is used twice')
    return key
  }
  for (const [at, raw] of lines.entries()) {
    const words = raw.split(/[ \t]+/).filter((word) => word !== '')
    const [keyword = '#', name = '', ...rest] = words
    const [third = '', fourth] = rest
    if (keyword.startsWith('#')) continue
    if (keyword === 'log' && words.length >= 2 && words.length <= 3) {
      const key = keyOf(name, logs, LOG_KEY, at)
      logs.push(third === '' ? { key } : { key, url: third })
    } else if (keyword === 'witness' && words.length >= 3 && words.length <= 4) {
      const key = keyOf(third, witnesses, WITNESS_KEY, at)
      const witness = fourth === undefined ? { key } : { key, url: fourth }
      witnesses.push({ name, ...witness })
      define(name, { witness: name, ...witness }, at)
    } else if (keyword === 'group' && words.length >= 4) {
      const members = rest.slice(1).map((member) => {
        const part = defined.get(member)
        if (part === undefined || used.has(member)) throw malformed(at, 'a member is not defined, or used twice')
        used.add(member)
        return part
      })
      define(name, { group: name, threshold: thresholdOf(third, members.length, at), members }, at)
    } else if (keyword === 'quorum' && words.length === 2 && quorum === null) {
      quorum = name === 'none' ? undefined : (defined.get(name) ?? null)
      if (quorum === null) throw malformed(at, 'the quorum is not defined')
    } else throw malformed(at, 'not a policy line')
  }
  if (quorum === null) throw new AnchoringError('POLICY_MALFORMED', 'the policy has no quorum line')
  return { logs, witnesses, quorum }
}

function thresholdOf(word: string, count: number, at: number): number {
  const threshold = word === 'any' ? 1 : word === 'all' ? count : THRESHOLD.test(word) ? Number(word) : 0
  if (threshold < 1 || threshold > count) throw malformed(at, 'the threshold is not within the group')
  return threshold
}

function malformed(at: number, message: string): AnchoringError {
  return new AnchoringError('POLICY_MALFORMED', `policy line ${at + 1}: ${message}`)
}
