import { connect } from 'node:net'

/** Maximum time until a response begins on a busy machine. */
const WHOLE_MS = 30_000
/** Time after which the connection of an incomplete request is closed. */
const PART_MS = 300
/** Time after which the connection of a response is closed, because event streams do not end. */
const REST_MS = 1_000

type Exchange = {
  /** the bytes that came back, at most the first 64 KB */
  answer: string
  /** false if a required response is missing */
  isAnswered: boolean
}

/**
 * Sends bytes on a new connection and reads the reply.
 * @param isWhole false when the other side may wait for more: silence is then an answer
 * @param speaks side that sends first: a mail server refuses clients that do not wait for its greeting
 */
export async function exchange(
  port: number,
  bytes: Buffer,
  isWhole: boolean,
  speaks: 'client' | 'server' = 'client',
): Promise<Exchange> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined) // a connection that is reset has been answered by that
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let answer = ''
  const stopTimeoutMs = isWhole || speaks === 'server' ? WHOLE_MS : PART_MS
  let timer = setTimeout(() => socket.destroy(), stopTimeoutMs)
  let isCut = true
  socket.on('data', (chunk: Buffer) => {
    if (answer === '') {
      clearTimeout(timer)
      timer = setTimeout(() => socket.destroy(), REST_MS)
    }
    if (answer.length < 65_536) answer += chunk.toString('latin1')
  })
  socket.once('end', () => {
    isCut = false
  })
  if (speaks === 'server') socket.once('data', () => socket.write(bytes))
  else socket.write(bytes)
  await closed
  clearTimeout(timer)
  return { answer, isAnswered: answer !== '' || !isWhole || !isCut }
}
