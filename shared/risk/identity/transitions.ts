import type { IdentityState } from './subject.ts'

/** What may move an identity from one state to another. */
export type Mover = 'CALLER' | 'VERIFICATION' | 'SWEEPER' | 'STATUS_LIST' | 'ERASURE'

type Row = readonly [from: IdentityState, to: IdentityState, by: readonly Mover[]]

/** Every transition there is (docs/spec/evidence-families.md#subject-states); beside them everything but REVOKED becomes REVOKED. */
const TRANSITIONS: readonly Row[] = [
  ['UNVERIFIED', 'PENDING', ['CALLER', 'VERIFICATION']],
  ['PENDING', 'VERIFIED', ['VERIFICATION']],
  ['PENDING', 'UNVERIFIED', ['CALLER', 'VERIFICATION']],
  ['VERIFIED', 'EXPIRED', ['SWEEPER']],
  ['VERIFIED', 'SUSPENDED', ['CALLER', 'STATUS_LIST']],
  ['SUSPENDED', 'VERIFIED', ['CALLER']],
  ['EXPIRED', 'PENDING', ['CALLER']],
]

const TO_REVOKED: readonly Mover[] = ['CALLER', 'ERASURE']

/** Returns `forbidden` for VERIFIED by a caller, and `impossible` for a move that no rule allows. */
export function checkTransition(
  from: IdentityState,
  to: IdentityState,
  by: Mover,
): 'allowed' | 'forbidden' | 'impossible' {
  const movers =
    to === 'REVOKED'
      ? from === 'REVOKED'
        ? undefined
        : TO_REVOKED
      : TRANSITIONS.find(([one, other]) => one === from && other === to)?.[2]
  if (!movers) return 'impossible'
  if (movers.includes(by)) return 'allowed'
  return to === 'VERIFIED' ? 'forbidden' : 'impossible'
}
