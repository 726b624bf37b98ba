import test from 'ava'
import { csvRecords, type FileRecord } from '../../../workers/tape-importer/csv-records.ts'
import { effort } from '../../support/effort.ts'
import { randomOf } from '../../support/random.ts'

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(text: string, size: number): Promise<FileRecord[]> {
  const records: FileRecord[] = []
  for await (const some of csvRecords(inPieces(text, size))) records.push(...some)
  return records
}

test('lines end with LF, CR LF or CR, also in quoted cells', async (t) => {
  const below = randomOf(20_261_127).int
  const ends = ['\n', '\r\n', '\r']
  const end = () => ends[below(ends.length)] ?? '\n'
  // A LF directly after a CR would not be an empty line.
  const endAfter = (text: string) => (text.endsWith('\r') ? '\r\n' : end())
  for (let round = 0; round < effort(150, 3_000); round++) {
    let text = below(4) === 0 ? '\uFEFF' : ''
    let line = 1
    const expected: FileRecord[] = []
    for (let n = 0; n < 1 + below(6); n++) {
      for (; below(5) === 0; line++) text += endAfter(text)
      const breaks = below(3) === 0 ? 1 + below(2) : 0
      const quoted = Array.from({ length: breaks }, () => `x${end()}`).join('')
      const cell = `${quoted}y`.replaceAll(/\r\n?/g, '\n')
      expected.push({ line, cells: [`r${n}`, cell, 'z'], text: `r${n},"${cell}",z` })
      const hasEnd = n < 5 && below(8) > 0
      text += `r${n},"${quoted}y",z${hasEnd ? end() : ''}`
      line += breaks + 1
      if (!hasEnd) break
    }
    for (const size of [1, 2, 7, 1_000])
      t.deepEqual(await read(text, size), expected, `${JSON.stringify(text)} in pieces of ${size}`)
  }
})

test('a file may mix CR LF and LF', async (t) => {
  const rows = [
    { line: 1, cells: ['a', 'b'], text: 'a,b' },
    { line: 2, cells: ['1', '2'], text: '1,2' },
    { line: 3, cells: ['3', '4'], text: '3,4' },
  ]
  t.deepEqual(await read('a,b\r\n1,2\n3,4\n', 1_000), rows)
  t.deepEqual(await read('a,b\n1,2\r\n3,4\r\n', 1_000), rows)
  t.deepEqual(await read('a,b\r1,2\r3,4', 1_000), rows)
})
