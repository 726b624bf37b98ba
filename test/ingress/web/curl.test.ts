import test from 'ava'
import { curlOf } from '../../../ingress/web/risk/curl.ts'

test('a copied curl command quotes every value safely', (t) => {
  const line = curlOf("https://example.com/'; rm -rf /", { id: 'd', eventId: "e'", body: `{"a":"it's"}` })
  t.is(
    line,
    [
      `curl -X POST 'https://example.com/'\\''; rm -rf /'`,
      `-H 'content-type: application/json'`,
      `-H 'webhook-id: e'\\'''`,
      `--data-raw '{"a":"it'\\''s"}'`,
    ].join(' \\\n  '),
  )
})
