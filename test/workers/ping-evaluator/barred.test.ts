import test from 'ava'
import type { LockedCheck } from '#shared/monitoring/checks/lock-store.ts'
import { RULE_BITS } from '#shared/monitoring/checks/rule-bits.ts'
import { evaluate } from '../../../workers/ping-evaluator/evaluate.ts'
import { aCheck } from '../../shared/monitoring/checks/factory.ts'

const ping = {
  checkId: 1,
  kind: 'success',
  exitStatus: null,
  receivedAt: 1_000_000,
  scheme: 'email',
  remoteAddr: null,
  method: '',
  ua: 'job@example.org',
  rid: null,
  body: null,
  mail: { text: { subject: 'done', pieces: [] }, storedBody: null },
} as const

test('a mail to a check that requires a secret is logged and ignored', async (t) => {
  const typeOf = async (ruleBits: number) => {
    const check: LockedCheck = aCheck({ ruleBits })
    const { pings } = await evaluate(
      new Map([[1, check]]),
      [{ ...ping, mail: { ...ping.mail, text: { ...ping.mail.text, pieces: [] } } }],
      () => null,
    )
    return [pings[0]?.type, pings[0]?.ignored, check.status]
  }
  t.deepEqual(await typeOf(RULE_BITS.pingAuth), ['ign', 'secret', 'new'])
  t.deepEqual(await typeOf(0), ['success', null, 'up'])
})
