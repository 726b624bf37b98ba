import test from 'ava'
import { maskPieces } from '../../../ingress/web/monitoring/checks/ping-body.ts'

const SECRETS = ['3d2f-1', 'key_of-eleven']

async function masked(text: string, pieceLength: number): Promise<string> {
  async function* pieces() {
    for (let from = 0; from < text.length; from += pieceLength) {
      yield await Promise.resolve(Buffer.from(text.slice(from, from + pieceLength), 'latin1'))
    }
  }
  let result = ''
  for await (const piece of maskPieces(pieces(), SECRETS)) result += piece.toString('latin1')
  return result
}

test('a secret is masked even if it spans two chunks', async (t) => {
  const text = '3D2F-1 \xff\x00 3d2f-key_of-eleven3d2f-13d2f-1 key_of-eleve'
  for (let pieceLength = 1; pieceLength <= text.length; pieceLength++) {
    t.is(await masked(text, pieceLength), '****** \xff\x00 3d2f-************************* key_of-eleve')
  }
})
