import test from 'ava'
import { readPreference } from '../../../ingress/api-risk/path-params.ts'

for (const [prefer, waitMs, applied] of [
  [undefined, 10_000, null],
  ['handling=strict', 10_000, null],
  ['respond-async', 0, 'respond-async'],
  ['wait=3', 3_000, 'wait=3'],
  ['respond-async, wait=3', 3_000, 'respond-async, wait=3'],
  ['wait="3",RESPOND-ASYNC', 3_000, 'respond-async, wait=3'],
  ['wait=99, respond-async; x=1', 25_000, 'respond-async, wait=25'],
  ['respond-async, wait=soon', 0, 'respond-async'],
] as const) {
  test(`Prefer: ${prefer} waits ${waitMs} ms`, (t) => {
    t.deepEqual(readPreference(prefer), { waitMs, applied })
  })
}
