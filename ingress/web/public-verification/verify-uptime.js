// Verifies the daily statements about a check. The proofs are in the file; only the key of the log is requested.

import { checkSignature } from './verify-log.js'
import { canonicalize, encoder, fromBase64, fromHex, leafHash, rootOf, sha256, toHex } from './verify-proof.js'
import { line, report } from './verify-report.js'

const DAY = 86_400

/** Each line about a day that fails names it. @param proof the answer of .../uptime-proof */
export async function verifyUptime({ check, name, from, until, records, statements, proofs }) {
  const hashes = await Promise.all(
    records.map(async (record) => toHex(await sha256(encoder.encode(canonicalize(record))))),
  )
  const found = new Map(records.map((record, index) => [hashes[index], record]))
  const isSuppressed = records
    .map((record, index) => checkRecord(record, hashes[index], check, statements))
    .every(Boolean)
  if (isSuppressed)
    line('passed', `All ${records.length} records hash into the statements of their days; their sums follow.`)
  const isChain = statements.every((statement, index) => checkLink(statement, index, statements))
  if (isChain) line('passed', `${statements.length} statements in a row, none left out.`)
  let isAnchored = true
  for (const [index, statement] of statements.entries())
    isAnchored = (await checkStatement(statement, proofs[index])) && isAnchored
  if (isAnchored) {
    line('passed', 'Each statement is in the log, under a checkpoint.')
    const notes = new Map(proofs.map(({ checkpoint, env }) => [checkpoint, env]))
    for (const [checkpoint, env] of notes) await checkSignature(checkpoint.split('\n')[0], env, checkpoint)
  }
  const days = daysOf({ from, until, statements, found })
  if (days && report.dataset.result !== 'failed') sayUptime({ name, from, until }, days)
}

function checkRecord(record, hash, check, statements) {
  const { date, up, down } = record
  const isStated = statements.some((statement) => statement.date === date && statement.records.includes(hash))
  if (!isStated) return line('failed', `${date}: the record is not in the statement of its day: it was changed.`)
  if (record.check !== check) return line('failed', `${date}: the record is that of another check.`)
  const sums = sumsOfDay(record)
  if (sums.up === up && sums.down === down) return true
  return line('failed', `${date}: its flips do not come to what the record says.`)
}

function checkLink({ date, previous, corrects }, index, statements) {
  const before = statements.slice(0, index)
  if (index > 0 && previous !== before.at(-1).anchor.txId)
    return line('failed', `${date}: the statement does not name the one before it.`)
  if (corrects === null || before.some((each) => each.anchor.txId === corrects && each.date === date)) return true
  return line('failed', `${date}: the correction corrects no statement of its day.`)
}

/** Hash, entry and inclusion of one statement. */
async function checkStatement({ anchor, ...rest }, proof) {
  const digest = toHex(await sha256(encoder.encode(canonicalize(rest))))
  const entry = { v: 1, eventType: rest.eventType, timestamp: rest.timestamp, payloadSha256: digest }
  const txId = toHex(await leafHash(encoder.encode(canonicalize(entry))))
  if (digest !== anchor.payloadSha256 || txId !== anchor.txId)
    return line('failed', `${rest.date}: the statement differs from the logged one: it was changed.`)
  if (!proof || proof.index === null) return line('open', `${rest.date}: no checkpoint covers the statement yet.`)
  const [, size, root] = proof.checkpoint.split('\n')
  const reached = await rootOf(fromHex(txId), proof.index, Number(size), proof.proof.map(fromBase64))
  if (reached !== null && toHex(reached) === toHex(fromBase64(root))) return true
  return line('failed', `${rest.date}: the proof does not lead to the root of its checkpoint.`)
}

/** The record of each day that counts, the last one stated; null when one is missing. */
function daysOf({ from, until, statements, found }) {
  const days = []
  const missing = []
  for (let at = Date.parse(from); at <= Date.parse(until); at += DAY * 1000) {
    const date = new Date(at).toISOString().slice(0, 10)
    const stated = statements.filter((statement) => statement.date === date)
    const own = stated.map(({ records }) => found.get(records.find((hash) => found.has(hash))))
    if (own.length === 0 || own.includes(undefined)) missing.push(date)
    else days.push(own.at(-1))
  }
  if (missing.length > 0) {
    const more = missing.length > 10 ? ` and ${missing.length - 10} more days` : ''
    line('open', `No record of this check for ${missing.slice(0, 10).join(', ')}${more}.`)
  }
  return days
}

/** Each second counts once: off, else excluded, else down, else unknown, else up. */
function sumsOfDay({ date, first, flips, unknown, excluded }) {
  const begin = Date.parse(`${date}T00:00:00Z`) / 1000
  const second = (instant) => Math.min(DAY, Math.max(0, Math.floor(Date.parse(instant) / 1000) - begin))
  const changes = flips.map(([at, to]) => ({ at: second(at), to }))
  const spans = (list) => list.map(([since, end]) => [second(since), second(end)])
  const [blind, out] = [spans(unknown), spans(excluded)]
  const marks = new Set([0, DAY, ...changes.map(({ at }) => at), ...blind.flat(), ...out.flat()])
  const ordered = [...marks].sort((a, b) => a - b)
  const sums = { up: 0, down: 0, unknown: 0 }
  for (const [index, at] of ordered.entries()) {
    const isIn = (list) => list.some(([since, end]) => since <= at && at < end)
    const status = changes.findLast((change) => change.at <= at)?.to ?? first
    if ((status !== 'up' && status !== 'down') || isIn(out)) continue
    sums[status === 'up' && isIn(blind) ? 'unknown' : status] += (ordered[index + 1] ?? DAY) - at
  }
  return sums
}

function sayUptime({ name, from, until }, days) {
  const sums = days.map(sumsOfDay)
  const total = (kind) => sums.reduce((sum, each) => sum + each[kind], 0)
  const known = total('up') + total('down')
  const share = known === 0 ? null : Math.floor((total('up') / known) * 10_000) / 100
  const aside = total('unknown') > 0 ? ` (unknown: ${Math.floor(total('unknown') / 60)} minutes)` : ''
  const when = from === until ? `on ${from}` : `from ${from} to ${until}`
  line(
    'passed',
    share === null
      ? `${name}: nothing was known ${when}${aside}.`
      : `${name} was up ${share} % of the known time ${when}${aside}.`,
  )
  line('passed', 'What was stated each day was not changed since; that it was true is not shown.')
}
