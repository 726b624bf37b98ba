// Verifies an entry of the transparency log: its inclusion and the signature of the log. Addresses are relative to this
// script, because the service may be below a path of its host.

import { encoder, fromBase64, fromHex, rootOf, toHex } from './verify-proof.js'
import { line, report, shown } from './verify-report.js'

/** Verifies that the log includes a transaction under a signed checkpoint. */
export async function checkLog(txId) {
  const answer = await fetch(new URL(`../v1/anchors/${txId}`, import.meta.url))
  if (!answer.ok) return line('failed', 'The log of this service does not contain the transaction.')
  const { env, index, proof, checkpoint } = await answer.json()
  shown.env = env
  if (env === 'sandbox') shown.isSandbox = true
  if (env === 'sandbox' && report.dataset.result === 'verified') report.dataset.result = 'sandbox'
  if (index === null)
    return line('open', 'The log contains the transaction, but no checkpoint covers it yet. Try again soon.')
  const [origin, size, root] = checkpoint.split('\n')
  shown.origin = origin
  const reached = await rootOf(fromHex(txId), index, Number(size), proof.map(fromBase64))
  const isIncluded = reached !== null && toHex(reached) === toHex(fromBase64(root))
  line(
    isIncluded ? 'passed' : 'failed',
    isIncluded
      ? `The proof leads from entry ${index} to the root of the checkpoint of ${size} entries.`
      : 'The proof does not lead to the root of the checkpoint.',
  )
  if (isIncluded) await checkSignature(origin, env, checkpoint)
}

export async function checkSignature(origin, env, checkpoint) {
  const end = checkpoint.indexOf('\n\n') + 1
  const text = encoder.encode(checkpoint.slice(0, end))
  const published = await fetch(new URL(`../v1/transparency/${env}/log-key`, import.meta.url))
  const key = (await published.text()).trim()
  const material = fromBase64(key.slice(key.indexOf('+', key.indexOf('+') + 1) + 1))
  const signature = checkpoint
    .slice(end + 1)
    .split('\n')
    .find((entry) => entry.startsWith(`— ${origin} `))
  try {
    const verifier = await crypto.subtle.importKey('raw', material.slice(1), 'Ed25519', false, ['verify'])
    const signed = fromBase64(signature.slice(signature.lastIndexOf(' ') + 1)).slice(4)
    const isSigned = await crypto.subtle.verify('Ed25519', verifier, signed, text)
    line(
      isSigned ? 'passed' : 'failed',
      isSigned ? `The checkpoint is signed by ${origin}.` : 'The signature of the checkpoint does not verify.',
    )
  } catch {
    line('open', 'This browser cannot check Ed25519 signatures: use the offline verifier for that.')
  }
}
