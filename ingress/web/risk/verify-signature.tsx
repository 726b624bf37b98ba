import { CodeBlock } from '../shell/basics.tsx'

/** Explains how a receiver verifies a request. @param isOpen for an endpoint without a successful delivery */
export function VerifySignature({ isOpen }: { isOpen: boolean }) {
  return (
    <details class="more" open={isOpen}>
      <summary>How to verify the signature</summary>
      <div class="stack">
        <p>
          The secret was shown when the endpoint was created. <b>Rotate the secret</b> shows a new one.
        </p>
        <ol>
          <li>Compute the HMAC over the raw bytes of the body, before your program parses it.</li>
          <li>Refuse a timestamp that is more than five minutes before or after your clock.</li>
          <li>Answer with a 2xx status within 15 seconds, before you process the event.</li>
          <li>
            An event can arrive twice. Store its <code>webhook-id</code>, and ignore a repetition.
          </li>
        </ol>
        <p>
          This function works in Node. Libraries of{' '}
          <a href="https://www.standardwebhooks.com" rel="noopener noreferrer">
            Standard Webhooks
          </a>{' '}
          do the same in other languages.
        </p>
        <CodeBlock text={VERIFIER} label="verification in Node" />
      </div>
    </details>
  )
}

/** A test runs it on a delivered request. */
const VERIFIER = `import { createHmac, timingSafeEqual } from 'node:crypto'

// secret: whsec_...   headers: with lower-case names   body: the received bytes
export function isFromSignalbox(secret, headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(time)) < 300)) return false
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  if (key.length < 24) throw new Error('the secret is missing')
  const expected = createHmac('sha256', key).update(id + '.' + time + '.').update(body).digest()
  // After a rotation of the secret there are two signatures.
  return signatures.split(' ').some((text) => {
    const signature = Buffer.from(text.replace('v1,', ''), 'base64')
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  })
}
`
