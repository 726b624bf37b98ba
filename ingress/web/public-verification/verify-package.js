// Verifies a ZIP package: its manifests, and each file in it that this page can verify. Other files are listed as not
// checked, because manifests in the same package prove nothing about their origin.

import { attachedPack, isVerifiable, verifyPdf, verifyText } from './verify-file.js'
import { anchorOf, fromHex, hasTwins, leafHash, sha256, toHex, treeRoot } from './verify-proof.js'
import { endPart, line, report, shown, startPart } from './verify-report.js'
import { readZip, ZipError } from './verify-zip.js'

const DECLARATION = 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n'
const MANIFEST = 'manifest-sha256.txt'
const TAG_MANIFEST = 'tagmanifest-sha256.txt'
const [BUNDLE, FINDINGS] = ['data/bundle.json', 'data/checks.json']
const [CUT, RECEIVABLES] = ['data/cut.json', 'data/receivables.jsonl']

export async function verifyPackage(bytes) {
  const files = await filesOf(bytes)
  if (files === null) return
  const content = [...files.keys()].filter((name) => !isManifest(files, name))
  if (files.has('bagit.txt')) {
    const fault = await manifestFault(files)
    line(
      fault === null ? 'passed' : 'failed',
      fault ?? `All ${content.length} files match the manifests of the package.`,
    )
  }
  const checked = new Set()
  for (const { name, verify } of partsOf(files)) {
    startPart(name)
    try {
      await verify()
      checked.add(name)
    } catch {
      line('open', 'The check could not be finished: the service did not respond as expected.')
    }
    endPart()
  }
  if (checked.size === 0 && report.dataset.result !== 'failed')
    line('open', 'The package contains no pack, record, bundle or PDF of this product.')
  shown.unchecked = content.filter((name) => !checked.has(name))
  shown.count = `${checked.size} of ${content.length} files`
}

async function filesOf(bytes) {
  try {
    return await readZip(bytes)
  } catch (error) {
    if (!(error instanceof ZipError)) throw error
    line('failed', error.message)
    return null
  }
}

const textOf = (bytes) => new TextDecoder().decode(bytes)
const isManifest = (files, name) => files.has('bagit.txt') && [MANIFEST, TAG_MANIFEST, 'bagit.txt'].includes(name)

/** Lists the files that can be verified, each with its verification. */
function partsOf(files) {
  const isBag = files.has('bagit.txt')
  const parts = []
  let statement
  for (const [name, bytes] of files) {
    if (isBag && name === BUNDLE) {
      const verify = async () => {
        statement = await verifyText(textOf(bytes))
      }
      parts.unshift({ name, verify })
    } else if (isBag && name === CUT) parts.unshift({ name, verify: () => verifyText(textOf(bytes)) })
    else if (isBag && name === FINDINGS && files.has(BUNDLE))
      parts.push({ name, verify: () => checkFindings(statement, textOf(bytes)) })
    else if (isBag && name === RECEIVABLES && files.has(CUT))
      parts.push({ name, verify: () => checkReceivables(textOf(files.get(CUT)), textOf(bytes)) })
    else if (/\.json$/i.test(name) && isVerifiable(textOf(bytes)))
      parts.push({ name, verify: () => verifyText(textOf(bytes)) })
    else if (/\.pdf$/i.test(name) && attachedPack(bytes)) parts.push({ name, verify: () => verifyPdf(bytes) })
  }
  return parts
}

/** Compares the files with the manifests of a BagIt package (RFC 8493). @returns the first fault, or null */
async function manifestFault(files) {
  if (textOf(files.get('bagit.txt')) !== DECLARATION) return 'bagit.txt: it is not the declaration of BagIt 1.0.'
  const names = [...files.keys()].filter((name) => name !== TAG_MANIFEST)
  const isPayload = (name) => name.startsWith('data/')
  return (
    (await faultIn(files, MANIFEST, names.filter(isPayload))) ??
    (await faultIn(
      files,
      TAG_MANIFEST,
      names.filter((name) => !isPayload(name)),
    ))
  )
}

async function faultIn(files, manifest, names) {
  if (!files.has(manifest)) return `${manifest}: the file is missing.`
  const listed = new Map()
  for (const entry of textOf(files.get(manifest)).split('\n').filter(Boolean)) {
    const [, digest, name] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(entry) ?? []
    if (digest === undefined || listed.has(name)) return `${manifest}: a line is malformed.`
    listed.set(name, digest)
  }
  const unlisted = names.find((name) => !listed.has(name))
  if (unlisted !== undefined) return `${unlisted}: no manifest of the package lists this file.`
  for (const [name, digest] of listed) {
    if (!names.includes(name)) return `${name}: ${manifest} lists this file, but the package lacks it.`
    if (toHex(await sha256(files.get(name))) !== digest)
      return `${name}: its hash differs from ${manifest}: the file was changed.`
  }
  return null
}

/** The findings must be unchanged and exactly those whose transactions the signed statement names, in this order. */
async function checkFindings(statement, text) {
  if (statement === undefined) return line('open', `The findings are compared with ${BUNDLE}, which is not verified.`)
  const named = (statement.predicate.checks ?? []).filter(({ verificationId }) => verificationId !== undefined)
  const findings = parsed(text)
  const anchors = Array.isArray(findings) ? await Promise.all(findings.map(txIdOf)) : null
  const isSame = anchors?.length === named.length && named.every(({ txId }, index) => txId === anchors[index])
  return line(
    isSame ? 'passed' : 'failed',
    isSame ? `The findings are those that the signed statement names: ${named.length}.` : 'The findings were changed.',
  )
}

/** The receivables must lead to the root of the cut, in their order. */
async function checkReceivables(cutText, text) {
  const { root, size } = parsed(cutText) ?? {}
  const leaves = []
  for (const [index, entry] of text.split('\n').slice(0, -1).entries()) {
    const object = parsed(entry)
    if ((await txIdOf(object)) === null) return line('failed', `Line ${index + 1}: the receivable was changed.`)
    leaves.push(await leafHash(fromHex(object.anchor.payloadSha256)))
  }
  const isSame = leaves.length === size && toHex(await treeRoot(leaves)) === root
  return line(
    isSame ? 'passed' : 'failed',
    isSame
      ? `All ${size} receivables lead to the root of the cut.`
      : 'The receivables differ from those of the cut, or from their order.',
  )
}

/** Returns undefined for text that is not JSON or that programs may read differently. */
function parsed(text) {
  try {
    const value = JSON.parse(text)
    return hasTwins(text) ? undefined : value
  } catch {
    return undefined
  }
}

/** Returns the transaction of an anchored object; null if it differs from its anchor. */
async function txIdOf(object) {
  const { digest, txId } = await anchorOf(object ?? {})
  const isSame = digest === object?.anchor?.payloadSha256 && txId !== null && txId === object.anchor.txId
  return isSame ? txId : null
}
