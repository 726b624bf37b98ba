import { CsvError, type Parser, parse } from 'csv-parse'
import type { FailureCode, HeaderFault } from '#shared/risk/colending/imports/import.ts'
import { NotTextError } from '#shared/risk/colending/imports/utf8-check.ts'
import { withLineFeeds } from './read-file.ts'

const MAX_RECORD = 65_536
/** Includes the parser's buffers. */
const MAX_UNTERMINATED = 8 * 65_536

export interface FileRecord {
  line: number
  cells: string[]
  /** its text in the file without the final line end; line ends inside it are LF */
  text: string
}

/** Malformed, or beyond a limit. */
export class FileRefusedError extends Error {
  readonly code: FailureCode
  readonly line: number
  /** for FORMAT_UNKNOWN: the record that is closest to a header */
  readonly header: HeaderFault | undefined
  constructor(code: FailureCode, line: number, header?: HeaderFault) {
    super(`${code} in line ${line}`)
    this.code = code
    this.line = line
    this.header = header
  }
}

/**
 * One batch per chunk, because yielding to the event loop for each record costs more than parsing it. Yields records
 * before a fault first. @throws FileRefusedError
 */
export async function* csvRecords(bytes: AsyncIterable<Buffer>): AsyncGenerator<FileRecord[]> {
  let found: FileRecord[] = []
  let ended = 0
  const parser = parse({
    bom: true,
    record_delimiter: '\n',
    max_record_size: MAX_RECORD,
    raw: true,
    on_record(parsed: unknown, { lines }) {
      // With `raw` the parser passes a record and its text; its types declare only the record.
      const { record: cells, raw } = parsed as { record: string[]; raw: string }
      const line = lines - ended === 1 ? lines : lines - newlinesIn(cells)
      // `raw` includes empty lines before the record.
      found.push({ line, cells, text: raw.replace(/^\n+|\n$/g, '') })
      ended = lines
      return null
    },
    relax_column_count: true,
    skip_empty_lines: true,
  })
  // The write or end that fails also reports its error.
  parser.on('error', () => {})
  const taken = () => {
    const records = found
    found = []
    return records
  }
  try {
    for await (const piece of watched(withLineFeeds(bytes), parser, () => ended + 1)) {
      await written(parser, piece)
      yield taken()
    }
    await written(parser, null)
    yield taken()
  } catch (error) {
    const refused = refusalOf(error, ended + 1)
    if (found.length > 0) yield taken()
    throw refused
  } finally {
    parser.destroy()
  }
}

/** @throws the parser's error */
function written(parser: Parser, piece: Buffer | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null) => (error ? reject(error) : resolve())
    if (piece === null) parser.end(done)
    else parser.write(piece, done)
  })
}

function refusalOf(error: unknown, line: number): unknown {
  if (error instanceof CsvError) {
    return new FileRefusedError(error.code === 'CSV_MAX_RECORD_SIZE' ? 'RECORD_TOO_LONG' : 'QUOTING', line)
  }
  return error instanceof NotTextError ? new FileRefusedError('NOT_UTF8', error.line) : error
}

function newlinesIn(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + (cell.includes('\n') ? cell.split('\n').length - 1 : 0), 0)
}

/** The parser does not limit the number of cells. */
async function* watched(bytes: AsyncIterable<Buffer>, parser: Parser, line: () => number): AsyncGenerator<Buffer> {
  let begun = -1
  let since = 0
  for await (const piece of bytes) {
    const { records, empty_lines: empty } = parser.info
    if (records + empty !== begun) since = 0
    begun = records + empty
    since += piece.length
    if (since > MAX_UNTERMINATED) throw new FileRefusedError('RECORD_TOO_LONG', line())
    yield piece
  }
}
