import test from 'ava'
import { LOG_KEY, type NoteSigner, signerFromSeed, WITNESS_KEY } from '#shared/transparency/anchoring/note-key.ts'
import {
  flatPolicy,
  formatPolicy,
  isQuorumReached,
  parsePolicy,
  policyKeys,
} from '#shared/transparency/anchoring/policy.ts'
import { merkleVectors, vectorLog } from './vectors.ts'

const { logVkey, witnessVkey } = merkleVectors.signedNotes.checkpoint
const witness = (at: number): NoteSigner => signerFromSeed(`w${at}.example`, WITNESS_KEY, Buffer.alloc(32, at))
const witnesses = [1, 2, 3, 4].map((at) => ({ key: witness(at).key }))
const [w1, w2, w3, w4] = witnesses.map(({ key }) => key)

test('a quorum requires enough different witnesses', (t) => {
  const policy = flatPolicy([{ key: vectorLog.key, url: 'https://log.example/' }], witnesses, 2)
  if (!w1 || !w2) throw new Error('no witnesses')
  t.false(isQuorumReached(policy, []))
  t.false(isQuorumReached(policy, [w1, w1]))
  t.true(isQuorumReached(policy, [w1, w2]))
  t.false(isQuorumReached(policy, [w1, signerFromSeed('stranger', WITNESS_KEY, Buffer.alloc(32, 9)).key]))
  t.true(isQuorumReached(flatPolicy([], [], 0), []))
  t.throws(() => flatPolicy([], witnesses, 5), { code: 'POLICY_MALFORMED' })
  t.is(policyKeys(policy).length, 5)
  t.deepEqual(formatPolicy(parsePolicy(formatPolicy(policy))), formatPolicy(policy))
})

test('a policy may have nested groups, comments and white space', (t) => {
  const lines = witnesses.map(({ key }, at) =>
    formatPolicy(flatPolicy([], [{ key }], 0)).replace(`w${at + 1}.example `, `W${at + 1} `),
  )
  const text = [
    '# a policy',
    `  log\t${logVkey}   https://log.example/`,
    ...lines.map((line) => line.split('\n')[0]),
    'group X 2 W1 W2',
    'group Y any W3 W4',
    'group all-of-it all X Y',
    'quorum all-of-it',
    '',
  ].join('\n')
  const policy = parsePolicy(text)
  if (!w1 || !w2 || !w3 || !w4) throw new Error('no witnesses')
  t.true(isQuorumReached(policy, [w1, w2, w4]))
  t.false(isQuorumReached(policy, [w1, w3, w4]))
  t.false(isQuorumReached(policy, [w1, w2]))
})

for (const [fault, text] of [
  ['no quorum', `log ${logVkey}\n`],
  ['two quorums', 'quorum none\nquorum none\n'],
  ['an undefined quorum', 'quorum W\n'],
  ['a witness as log', `log ${witnessVkey}\nquorum none\n`],
  ['a log as witness', `witness W ${logVkey}\nquorum W\n`],
  ['a log twice', `log ${logVkey}\nlog ${logVkey}\nquorum none\n`],
  ['a witness twice', `witness W ${witnessVkey}\nwitness V ${witnessVkey}\nquorum W\n`],
  ['a name called none', `witness none ${witnessVkey}\nquorum none\n`],
  ['a member twice', `witness W ${witnessVkey}\ngroup G 2 W W\nquorum G\n`],
  ['a threshold above the group', `witness W ${witnessVkey}\ngroup G 2 W\nquorum G\n`],
  ['a threshold of zero', `witness W ${witnessVkey}\ngroup G 0 W\nquorum G\n`],
  ['a group of itself', `witness W ${witnessVkey}\ngroup G any G\nquorum G\n`],
  ['an unknown line', 'witnesses\nquorum none\n'],
  ['a carriage return', 'quorum none\r\n'],
  ['a flood of lines', `${'#\n'.repeat(1000)}quorum none\n`],
] as const)
  test(`a policy with ${fault} is refused`, (t) => {
    t.throws(() => parsePolicy(text), { code: 'POLICY_MALFORMED' })
  })

test('the log key of the vectors is a log key', (t) => {
  t.is(vectorLog.key.type, LOG_KEY)
})
